# SPDX-License-Identifier: Apache-2.0
"""What libtraceinject.so asks of a process and gives to it: needed libraries, versions, exported names, environment."""

import re
import subprocess
import unittest

import harness

# The C library, its parts, and the loader: nothing that could clash with what the program brings.
ALLOWED_LIBRARIES = re.compile(r"^(libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1)$")
ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                "traceinject_version", *(f"ncclProfiler_v{version}" for version in range(1, 6))}
ALLOWED_EXPORTS = re.compile(r"^(_exit|_Exit|cu(da)?(Event(Record(WithFlags)?|Synchronize|Destroy(_v2)?)"
                             r"|Stream(WaitEvent|Synchronize|Destroy(_v2)?))(_ptsz)?|cudaDeviceSynchronize|cuCtxSynchronize"
                             r"|cublas([HSDCZ]gemm|Gemm)(3m)?((Strided|Grouped)?Batched)?(Ex)?(_v2)?(_64)?|cublasLtMatmul"
                             r"|cupti(Activity(RegisterCallbacks|Enable((Runtime|Driver)Api)?|Disable|FlushAll|SetAttribute|RegisterTimestampCallback)"
                             r"|Subscribe|Unsubscribe|Finalize))$")
NEWEST_GLIBC = (2, 34)


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Library(harness.TestCase):
    def test_needed_libraries(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", "-W", str(harness.LIBRARY)))
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not ALLOWED_LIBRARIES.match(name)], [])

    def test_exported_names(self):
        exported = {line.split()[-1].split("@")[0]
                    for line in output_of("nm", "-D", "--defined-only", str(harness.LIBRARY)).splitlines()}
        self.assertLessEqual(ENTRY_POINTS, exported)
        self.assertEqual({name for name in exported - ENTRY_POINTS if not ALLOWED_EXPORTS.match(name)}, set())

    def test_glibc_version(self):
        versions = [tuple(map(int, version.split(".")))
                    for version in re.findall(r"GLIBC_([0-9.]+)", output_of("readelf", "-V", "-W", str(harness.LIBRARY)))]
        self.assertNotEqual(versions, [])
        self.assertLessEqual(max(versions), NEWEST_GLIBC)

    def environment_seen(self, **env):
        ended = self.finish(self.start(command=["env"], env=env))
        return dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)

    def test_slots_are_filled_with_the_own_path(self):
        seen = self.environment_seen()
        self.assertEqual(seen["CUDA_INJECTION64_PATH"], str(harness.LIBRARY.resolve()))
        self.assertEqual(seen["NVTX_INJECTION64_PATH"], str(harness.LIBRARY.resolve()))
        self.assertEqual(seen["NCCL_PROFILER_PLUGIN"], "STATIC_PLUGIN")

    def test_slots_of_other_tools_are_kept(self):
        seen = self.environment_seen(CUDA_INJECTION64_PATH="/other.so")
        self.assertEqual(seen["CUDA_INJECTION64_PATH"], "/other.so")
        self.assertNotIn("NVTX_INJECTION64_PATH", seen)
        seen = self.environment_seen(NVTX_INJECTION64_PATH="/other.so")
        self.assertEqual(seen["NVTX_INJECTION64_PATH"], "/other.so")
        for value in ("none", "inspector", "/other.so", ""):
            self.assertEqual(self.environment_seen(NCCL_PROFILER_PLUGIN=value)["NCCL_PROFILER_PLUGIN"], value)
        self.assertNotIn("NCCL_PROFILER_PLUGIN", self.environment_seen(TRACEINJECT_NCCL="0"))

    def test_switched_off_changes_nothing(self):
        for off in ("0", "off"):
            seen = self.environment_seen(TRACEINJECT=off)
            self.assertNotIn("CUDA_INJECTION64_PATH", seen)
            self.assertNotIn("NVTX_INJECTION64_PATH", seen)
            self.assertNotIn("NCCL_PROFILER_PLUGIN", seen)


if __name__ == "__main__":
    harness.main()
