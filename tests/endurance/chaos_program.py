# SPDX-License-Identifier: Apache-2.0
"""What chaos.py plays: a program on the fake GPU that does what the plan in its first argument says, a list of [action, number] in JSON.

It prints each action when it is done, so that runs with and without the recorder can be compared.
"""

import _ctypes
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time


class KernelCode(ctypes.Structure):
    """What the fake runtime takes for a function (program.h of the fake GPU)."""

    _fields_ = [("magic", ctypes.c_uint64), ("name", ctypes.c_char_p), ("duration_ns", ctypes.c_int64), ("registers", ctypes.c_int32),
                ("static_shared_bytes", ctypes.c_int32), ("local_bytes", ctypes.c_uint32)]

    @classmethod
    def of(cls, name, duration_ns):
        return cls(0x4B45524E454C4B31, name, duration_ns, 32, 0, 0)


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


class Program:
    SHORT, LONG = KernelCode.of(b"a_kernel", 20_000), KernelCode.of(b"a_long_kernel", 1_300_000_000)

    def __init__(self):
        self.runtime = ctypes.CDLL("libcudart.so.13")
        self.blas = ctypes.CDLL("libcublas.so.13")  # the stand-in's records point to the names of its kernels
        self.memory = ctypes.c_void_p()
        self.runtime.cudaMalloc(ctypes.byref(self.memory), ctypes.c_size_t(4096))
        self.threads, self.session, self.optimizer = [], None, None
        if os.environ.get("CHAOS_TORCH"):
            import torch
            self.optimizer = torch.optim.SGD()

    def launch(self, kernel, times):
        one = Dim3(1, 1, 1)
        for _ in range(times):
            self.runtime.cudaLaunchKernel(ctypes.byref(kernel), one, one, None, ctypes.c_size_t(0), None)
        self.runtime.cudaDeviceSynchronize()

    def work(self, number):
        for _ in range(1 + number % 10):
            self.launch(self.SHORT, 20)
            if self.optimizer:
                self.optimizer.step()
            time.sleep(0.005)

    def idle(self, number):
        time.sleep(number % 400 / 1000)

    def stall(self, _number):
        self.launch(self.LONG, 1)

    def thread(self, number):
        """One that works beside what follows, until it is joined."""
        self.threads.append(threading.Thread(target=self.work, args=(number,)))
        self.threads[-1].start()

    def churn(self, number):
        for _ in range(number % 40):
            thread = threading.Thread(target=self.launch, args=(self.SHORT, 1))
            thread.start()
            thread.join()

    def join(self, _number):
        while self.threads:
            self.threads.pop().join()

    def session_begin(self, _number):
        if self.session is None:
            # Kept open, as that of a framework is.
            self.session = ctypes.CDLL(os.environ["CHAOS_CLIENT"])
            self.session.profiler_start()

    def session_end(self, number):
        if self.session is not None:
            self.session.profiler_stop(os.environ["CHAOS_PROFILE"].encode(), ctypes.c_bool(number % 4 == 0))
            self.session = None

    def proton_begin(self, _number):
        import triton.profiler
        if self.session is None:
            self.session = triton.profiler.start("profile")

    def proton_end(self, _number):
        import triton.profiler
        if self.session is not None:
            triton.profiler.finalize()
            self.session = None

    def fork(self, number):
        child = os.fork()
        if child == 0:
            if number % 3 == 0:
                os.execv("/bin/true", ["true"])
            time.sleep(number % 50 / 1000)
            if number % 3 == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            os._exit(number % 7)
        print(os.waitpid(child, 0)[1])

    def spawn(self, _number):
        print(subprocess.run(["/bin/sh", "-c", "exit 3"], check=False).returncode)

    def nvtx_library(self, number):
        """Opened, used, and closed; sometimes a thread uses it at its end."""
        for _ in range(1 + number % 3):
            library = ctypes.CDLL(os.environ["CHAOS_PLUGIN"])
            library.plugin_ranges(number % 20)
            thread = threading.Thread(target=library.plugin_ranges, args=(3,))
            thread.start()
            thread.join()
            _ctypes.dlclose(library._handle)

    def blas_library(self, _number):
        library = ctypes.CDLL(os.environ["CHAOS_BLAS"])
        print(library.RunProducts())
        _ctypes.dlclose(library._handle)

    def trigger(self, number):
        with contextlib.suppress(OSError):
            with open("run.db.trigger", "w", encoding="ascii") as file:
                file.write(("start", "stop", "auto")[number % 3] + "\n")

    def read_recording(self, _number):
        """As a program that looks at all files of its folder: closing one drops the locks that the process has on it."""
        for name in ("run.db", "run.db-wal"):
            with contextlib.suppress(OSError):
                with open(name, "rb") as file:
                    file.read(100)


def end(how, number):
    sys.stdout.flush()
    code = number % 100
    if how == "exit":
        sys.exit(code)
    if how == "_exit":
        os._exit(code)
    if how == "exception":
        raise RuntimeError("the training script failed")
    if how == "abort":
        os.abort()
    if how == "SIGTERM":
        os.kill(os.getpid(), signal.SIGTERM)
    if how == "SIGKILL":
        os.kill(os.getpid(), signal.SIGKILL)


def main():
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    actions, (how, number) = json.loads(sys.argv[1])
    program = Program()
    if os.environ.get("CHAOS_HOOKED") and "libtraceinject.so" in os.environ.get("LD_PRELOAD", ""):
        import triton.profiler
        import watched
        assert watched.wait_until_watched(sys.modules["triton.profiler.profile"].libproton.start)
    for action, value in actions:
        getattr(program, action)(value)
        print(action, flush=True)
    if os.environ.get("CHAOS_ENDS_SESSION"):
        program.session_end(0)
    if how != "with threads":
        program.join(0)
    end(how, number)


if __name__ == "__main__":
    main()
