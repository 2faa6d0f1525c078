#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of reading a long trace of PyTorch's profiler, and of turning one into a run.db.

    kineto_import.py BUILD_FOLDER [--megabytes 500 2000] [--folder /tmp]

Writes a trace of the given size as Kineto does (operators, calls, kernels and arrows, a third of the
events of each step being of the kind that is needed), reads it on one processor, and prints MB/s of text, by the
clock and by processor time (other programs share the machine), and the most memory that was resident. What it
wrote is removed again.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HEAD = """{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150754820096,
      "computeMajor": 9, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 132
    }
  ],
  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1700000000000000000,
  "trace_id": "00000000000000000000000000000000",
  "traceEvents": ["""
TAIL = """
  {
    "name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": "", "ts": %.3f
  }
  ],
  "traceName": "trace.json"
}
"""

OPERATOR = """
  {
    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": 11.250,
    "args": {
      "External id": %d,"Record function id": 0, "Sequence number": %d, "Fwd thread id": 0, "Ev Idx": %d
    }
  },"""
CALL = """
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": 3.125,
    "args": {
      "External id": %d,"cbid": 211, "correlation": %d
    }
  },"""
ARROW = """
  {
    "ph": "%s", "id": %d, "pid": %d, "tid": %d, "ts": %.3f,
    "cat": "ac2g", "name": "ac2g"%s
  },"""
KERNEL = """
  {
    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7,
    "ts": %.3f, "dur": 9.500,
    "args": {
      "External id": %d,"queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": %d,
      "registers per thread": 32, "shared memory": 0, "blocks per SM": 7.757576, "warps per SM": 31.030304,
      "grid": [%d, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %%": 48
    }
  },"""
STEP = """
  {
    "ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 4711, "tid": 4711,
    "ts": %.3f, "dur": %.3f,
    "args": {
      "External id": %d,"Record function id": 0, "Ev Idx": 0
    }
  },"""

NAMES = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
    "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(cudnnTensorStruct, float const*)",
    "ampere_sgemm_128x64_tn",
]
OPERATORS = ["aten::linear", "aten::addmm", "aten::empty", "aten::native_batch_norm"]
KERNELS_OF_STEP = 1000


def write_trace(path, size_bytes):
    """A trace of about that many bytes; returns how many kernels it has."""
    kernels, written, at = 0, 0, 100.0
    with open(path, "w", buffering=1 << 20) as out:
        written += out.write(HEAD)
        step = 0
        while written < size_bytes:
            lines = [STEP % (step, at, KERNELS_OF_STEP * 12.5, step)]
            for _ in range(KERNELS_OF_STEP):
                kernels += 1
                which = kernels % 4
                lines.append(OPERATOR % (OPERATORS[which], at, kernels, kernels, kernels))
                lines.append(OPERATOR % (OPERATORS[which - 1], at + 1, kernels, kernels, kernels))
                lines.append(CALL % (at + 2, kernels, kernels))
                lines.append(ARROW % ("s", kernels, 4711, 4711, at + 2, ""))
                lines.append(KERNEL % (NAMES[which], at + 6, kernels, kernels, 1024 + which))
                lines.append(ARROW % ("f", kernels, 0, 7, at + 6, ', "bp": "e"'))
                at += 12.5
            written += out.write("".join(lines))
            step += 1
        out.write(TAIL % at)
    return kernels


def measure(command):
    """Wall seconds, processor seconds and the most resident bytes of a command on one processor."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               preexec_fn=lambda: os.sched_setaffinity(0, {0}))
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.monotonic() - begin
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}")
    return wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--folder", default=None, help="for the traces; default: that of temporary files")
    arguments = parser.parse_args()
    analyze = str(arguments.build / "bin" / "analyze")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="kineto_import.", dir=arguments.folder))
    try:
        for megabytes in arguments.megabytes:
            trace = folder / "trace.json"
            kernels = write_trace(trace, megabytes * 1_000_000)
            size = trace.stat().st_size
            with open(trace, "rb") as text:  # into the page cache
                while text.read(1 << 24):
                    pass
            print(f"{size / 1e6:.0f} MB, {kernels} kernels")
            output = folder / "run.db"
            for what, command in [
                ("report", [analyze, "report", str(trace), "--format", "json"]),
                ("import", [analyze, "import", str(trace), "-o", str(output), "--force"]),
                ("report of the run.db", [analyze, "report", str(output), "--format", "json"]),
            ]:
                wall_s, cpu_s, rss = measure(command)
                print(f"  {what:22} {wall_s:6.2f} s, {size / 1e6 / wall_s:5.0f} MB/s; {cpu_s:6.2f} s of processor, "
                      f"{size / 1e6 / cpu_s:5.0f} MB/s; {rss / 1e6:6.0f} MB resident", flush=True)
            trace.unlink()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
