# SPDX-License-Identifier: Apache-2.0
"""What libtraceinject.so asks of a process and gives to it: needed libraries, versions, exported names, environment."""

import json
import re
import subprocess
import sys
import unittest

import harness

# The C library, its parts, and the loader: nothing that could clash with what the program brings.
# Threads and dlopen have libraries of their own where a portable build is to run.
ALLOWED_LIBRARIES = re.compile(r"^(libc\.so\.6|libm\.so\.6|libpthread\.so\.0|libdl\.so\.2|ld-linux-x86-64\.so\.2|ld-linux-aarch64\.so\.1)$")
ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension",
                "traceinject_version", *(f"ncclProfiler_v{version}" for version in range(1, 6))}
ALLOWED_EXPORTS = re.compile(r"^(_exit|_Exit|getenv|cu(da)?(Event(Record(WithFlags)?|Synchronize|Destroy(_v2)?)"
                             r"|Stream(WaitEvent|Synchronize|Destroy(_v2)?))(_ptsz)?|cudaDeviceSynchronize|cuCtxSynchronize"
                             r"|(__)?cudaLaunchKernel(_ptsz|ExC)?|cudaLaunchCooperativeKernel|cuLaunchKernel(Ex)?|(cuda|cu)GraphLaunch|cudaMemcpy(Async)?"
                             r"|cudaMalloc|cudaFree|cudaHostAlloc|cuMem(Alloc|Free)_v2|cuMemcpy(HtoD|DtoH)_v2"
                             r"|cublas([HSDCZ]gemm|Gemm)(3m)?((Strided|Grouped)?Batched)?(Ex)?(_v2)?(_64)?|cublasLtMatmul"
                             r"|cudnnConvolution(Forward|BiasActivationForward|BackwardData|BackwardFilter)"
                             r"|cudnnBackend((Set|Get)Attribute|DestroyDescriptor|Execute)"
                             r"|cupti(Activity(RegisterCallbacks|Enable((Runtime|Driver)Api)?|Disable|FlushAll|SetAttribute|RegisterTimestampCallback)"
                             r"|Subscribe|Unsubscribe|Finalize))$")
NEWEST_GLIBC = (2, 34)
ASKED = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN", "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_IB_HCA")
ASK = """
import ctypes, json, sys
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
answers = {name: getenv(name.encode()) for name in sys.argv[1:]}
print(json.dumps({name: None if value is None else value.decode() for name, value in answers.items()}))
"""


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Library(harness.TestCase):
    @harness.without_sanitizer("its runtime is needed, too")
    def test_needed_libraries(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", "-W", str(harness.LIBRARY)))
        self.assertIn("libc.so.6", needed)
        self.assertEqual([name for name in needed if not ALLOWED_LIBRARIES.match(name)], [])

    def test_exported_names(self):
        exported = {line.split()[-1].split("@")[0]
                    for line in output_of("nm", "-D", "--defined-only", str(harness.LIBRARY)).splitlines()}
        self.assertLessEqual(ENTRY_POINTS, exported)
        self.assertEqual({name for name in exported - ENTRY_POINTS if not ALLOWED_EXPORTS.match(name)}, set())

    def test_no_call_that_a_sanitizer_takes_for_a_fork(self):
        """ThreadSanitizer's runtime, of clone(): it forgets the program's threads, or ends it."""
        imported = {line.split()[-1].split("@")[0]
                    for line in output_of("nm", "-D", "--undefined-only", str(harness.LIBRARY)).splitlines()}
        self.assertIn("__clone", imported)
        self.assertEqual(imported & {"clone", "fork", "vfork"}, set())

    @harness.without_sanitizer("its runtime is needed, too")
    def test_glibc_version(self):
        versions = [tuple(map(int, version.split(".")))
                    for version in re.findall(r"GLIBC_([0-9.]+)", output_of("readelf", "-V", "-W", str(harness.LIBRARY)))]
        self.assertNotEqual(versions, [])
        self.assertLessEqual(max(versions), NEWEST_GLIBC)

    def environment_seen(self, preload=True, **env):
        """By a child of the process."""
        ended = self.finish(self.start(command=["sh", "-c", "env; true"], env=env, preload=preload))
        return dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)

    def answers(self, **env):
        """What C code in the process, as NVTX and NCCL are, is told."""
        ended = self.finish(self.start(command=[sys.executable, "-c", ASK, *ASKED], env=env))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        return json.loads(ended.stdout)

    def other_file(self, name):
        path = self.folder / f"truth.others/{name}"
        path.parent.mkdir(exist_ok=True)
        path.touch()
        return str(path)

    def test_slots_are_filled_with_the_own_path(self):
        own = str(harness.LIBRARY.resolve())
        self.assertEqual(self.environment_seen()["CUDA_INJECTION64_PATH"], own)
        self.assertEqual(self.answers(), {"CUDA_INJECTION64_PATH": own, "NVTX_INJECTION64_PATH": own, "NCCL_PROFILER_PLUGIN": "STATIC_PLUGIN",
                                          "NCCL_DEBUG": None, "NCCL_DEBUG_FILE": None, "NCCL_IB_HCA": None})

    def test_children_inherit_nothing_but_what_cuda_asks_for(self):
        plain = self.environment_seen(preload=False)
        for env in ({}, {"TRACEINJECT_NCCL_LOG": "1"}):
            seen = self.environment_seen(**env)
            added = {name for name in seen if plain.get(name) != seen[name]} - {"LD_PRELOAD", "_", *env}
            self.assertEqual(added, {"CUDA_INJECTION64_PATH"})

    def test_slots_of_other_tools_are_kept(self):
        for other in (self.other_file("libToolsInjection64.so"), "libother.so"):
            with self.subTest(other=other):
                self.assertEqual(self.environment_seen(CUDA_INJECTION64_PATH=other)["CUDA_INJECTION64_PATH"], other)
                answers = self.answers(CUDA_INJECTION64_PATH=other)
                self.assertEqual((answers["NVTX_INJECTION64_PATH"], answers["NCCL_PROFILER_PLUGIN"]), (None, None))
                self.assertEqual(self.answers(NVTX_INJECTION64_PATH=other)["NVTX_INJECTION64_PATH"], other)
        for value in ("none", "inspector", "/other.so", ""):
            self.assertEqual(self.answers(NCCL_PROFILER_PLUGIN=value)["NCCL_PROFILER_PLUGIN"], value)
        self.assertIsNone(self.answers(TRACEINJECT_NCCL="0")["NCCL_PROFILER_PLUGIN"])
        self.assertIsNone(self.answers(TRACEINJECT_NVTX="0")["NVTX_INJECTION64_PATH"])

    def test_slots_that_nobody_holds_any_more(self):
        own = str(harness.LIBRARY.resolve())
        for stale in ("none", "", "/old/libtraceinject.so", self.other_file("libtraceinject.so"), "/gone/libother.so"):
            with self.subTest(stale=stale):
                answers = self.answers(CUDA_INJECTION64_PATH=stale, NVTX_INJECTION64_PATH=stale)
                self.assertEqual((answers["CUDA_INJECTION64_PATH"], answers["NVTX_INJECTION64_PATH"]), (own, own))

    def test_switched_off_changes_nothing(self):
        for off in ("0", "off"):
            self.assertEqual(set(self.answers(TRACEINJECT=off).values()), {None})
            self.assertNotIn("CUDA_INJECTION64_PATH", self.environment_seen(TRACEINJECT=off))


# In a view of the files of its own: the library preloaded for all, by /etc/ld.so.preload. Programs with more rights than their user are
# told no paths by the environment, so CUDA's stand-ins are where the loader finds them.
PRELOADED_FOR_ALL = """
set -e
chmod 777 .
cp -a /etc etc && mount --bind etc /etc
echo "$2" > /etc/ld.so.conf.d/00.conf && ldconfig
echo "$1" > /etc/ld.so.preload
cp "$2/fake_train" plain && cp plain privileged && chown nobody privileged && chmod 4755 privileged
LD_SHOW_AUXV=1 ./privileged --steps 1 | grep AT_SECURE && exit 9
unset LD_LIBRARY_PATH
for program in plain privileged; do TRACEINJECT_OUTPUT="$PWD/$program.db" ./$program --steps 3; done
"""


class PreloadedForAll(harness.TestCase):
    @harness.without_sanitizer("its runtime is not preloaded for all")
    def test_programs_with_more_rights_than_their_user_are_left_alone(self):
        """They would write where that user's environment says."""
        if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
            self.skipTest("may not mount anything here (needs root)")
        ended = self.play(preload=False, command=["unshare", "-m", "sh", "-c", PRELOADED_FOR_ALL, "sh", harness.LIBRARY, harness.FAKE_GPU / "cuda13"])
        if ended.code == 9:
            self.skipTest("the temporary folder gives programs no rights (nosuid)")
        self.assertEqual((ended.code, ended.stdout), (0, 2 * "trained\n"), ended.stderr)
        self.open("plain.db")
        self.assertFalse((self.folder / "privileged.db").exists())


if __name__ == "__main__":
    harness.main()
