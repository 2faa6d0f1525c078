#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a run.db of any size, as a launch-bound training process would give it, to measure readers with.

Of the events half are kernels on three streams, which overlap, 45 % the calls that launched them, on two threads, and 5 % nested
NVTX ranges. A kernel in a thousand lies out of order, as CUPTI delivers them.
"""
import argparse
import os
import pathlib
import sqlite3

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "run_db.sql"
PERIOD_NS = 5_000  # a kernel every so often
COUNT = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count) "
NAMES = ["void at::native::vectorized_elementwise_kernel<4, Add>(int, Add)", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "void layer_norm_kernel<float>(int, float)",
         "forward", "backward", "optimizer", "layer"]


def write_dictionaries(run, end_ns):
    run.executemany("INSERT INTO meta VALUES (?, ?)",
                    [("base_ns", 1_700_000_000_000_000_000), ("tool_version", "bench"), ("run_id", "bench"), ("closed", 1)])
    run.execute("INSERT INTO process (proc, pid, host, rank, local_rank, world_size, run_id, start, end) "
                "VALUES (1, 100, 'bench', 0, 0, 1, 'bench', 0, ?)", (end_ns,))
    run.execute("INSERT INTO device (proc, device, name) VALUES (1, 0, 'NVIDIA H200')")
    run.executemany("INSERT INTO string VALUES (?, ?)", list(enumerate(NAMES, 1)))
    run.executemany("INSERT INTO thread VALUES (?, 1, ?, NULL)", [(1, 100), (2, 101)])
    run.executemany("INSERT INTO stream(id, proc, device, context, stream_id) VALUES (?, 1, 0, 1, ?)", [(1, 7), (2, 13), (3, 17)])
    run.executemany("INSERT INTO kernel_shape VALUES (?, ?, 64, 1, 1, 256, 1, 1, NULL, NULL, NULL, 32, 0, 0, 0)",
                    [(i, i) for i in range(1, 5)])
    run.executemany("INSERT INTO api_name VALUES (?, 1, ?, ?, ?)",
                    [(1, 211, "cudaLaunchKernel", 1), (2, 131, "cudaStreamSynchronize", 4)])
    run.execute("INSERT INTO nvtx_domain (id, proc, name) VALUES (1, 1, '')")


def write_events(run, events):
    kernels, calls, ranges = events // 2, events * 45 // 100, events * 5 // 100
    # Durations by a multiplicative hash of the row: 1 to 9 us, so that some kernels of a stream overlap the next.
    run.execute(COUNT + f"INSERT INTO kernel SELECT 20000 + i * {PERIOD_NS} - (i % 1000 = 999) * 100000,"
                " 1000 + i * 7919 % 8000 + (i % 2 = 1) * 2000, CASE WHEN i % 20 = 0 THEN 2 WHEN i % 7 = 0 THEN 3 ELSE 1 END,"
                " CASE WHEN i % 20 = 0 THEN 3 ELSE 1 + (i % 3) + (i % 3 = 2) END, i + 1, NULL FROM n", {"count": kernels})
    run.execute(COUNT + f"INSERT INTO api SELECT i * {PERIOD_NS}, 2000 + i * 104729 % 2500, 1 + (i % 10 = 0), 1 + (i % 50 = 0),"
                " i + 1, 0 FROM n", {"count": calls})
    # Four ranges nest: a step, a half of it, a layer, a part of that.
    every = kernels * PERIOD_NS // max(ranges // 4, 1)
    run.execute(COUNT + f"INSERT INTO nvtx SELECT (i / 4) * {every} + (i % 4) * {every // 16}, {every} * (4 - i % 4) / 4 - {every // 5},"
                " 1, 1, 1, 5 + i % 4, NULL, NULL, NULL FROM n", {"count": ranges})
    return kernels * PERIOD_NS + 1_000_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("--events", type=int, default=10_000_000)
    arguments = parser.parse_args()
    if os.path.exists(arguments.output):
        os.remove(arguments.output)
    run = sqlite3.connect(arguments.output, isolation_level=None)
    run.executescript("PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    run.executescript(SCHEMA.read_text())
    run.execute("BEGIN")
    end_ns = write_events(run, arguments.events)
    write_dictionaries(run, end_ns)
    run.execute("COMMIT")
    run.close()


if __name__ == "__main__":
    main()
