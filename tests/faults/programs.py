# SPDX-License-Identifier: Apache-2.0
"""Programs that do what is hard on a guest: `python3 programs.py NAME ARGUMENTS...`, on the fake GPU's libraries.

Each works on the GPU and prints what it did, so that runs with and without the library can be compared.
"""

import _ctypes
import contextlib
import ctypes
import os
import resource
import signal
import sys
import threading
import time


class Gpu:
    """Copies nothing, computes nothing: sets memory and records events."""

    def __init__(self):
        self.runtime = ctypes.CDLL("libcudart.so.13")
        self.program = ctypes.CDLL(None)  # where a preloaded library's wrappers are found first
        self.memory, self.event = ctypes.c_void_p(), ctypes.c_void_p()
        self.runtime.cudaMalloc(ctypes.byref(self.memory), ctypes.c_size_t(4096))
        self.runtime.cudaEventCreate(ctypes.byref(self.event))

    def work(self, times=1):
        for _ in range(times):
            if self.runtime.cudaMemsetAsync(self.memory, 0, ctypes.c_size_t(4096), None) != 0:
                raise RuntimeError("cudaMemsetAsync failed")
        self.runtime.cudaDeviceSynchronize()

    def work_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.work(10)
            time.sleep(0.002)


def exec_from_thread():
    """A thread that works becomes another program, while a second one works, too."""
    gpu = Gpu()
    gpu.work_for(0.5)
    threading.Thread(target=gpu.work_for, args=(60,), daemon=True).start()

    def become():
        gpu.work(10)
        os.execv(sys.executable, [sys.executable, __file__, "plain"])

    thread = threading.Thread(target=become)
    thread.start()
    thread.join()


def plain():
    gpu = Gpu()
    gpu.work(50)
    print("worked")


def signal_storm():
    """Timers interrupt the program a thousand times, in its calls too."""
    caught = {signal.SIGALRM: 0, signal.SIGPROF: 0}

    def count(number, _frame):
        caught[number] += 1

    for number in caught:
        signal.signal(number, count)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    gpu = Gpu()
    end = time.monotonic() + 20
    while min(caught.values()) < 50 and time.monotonic() < end:
        gpu.work(20)
        time.sleep(0.001)
    print("worked", min(caught.values()) >= 50)
    # The timers go on into the end of the program; the default action would kill it there.
    for number in caught:
        signal.signal(number, signal.SIG_IGN)


def child_that_outlives(marker):
    """A forked child and a started program live longer than the program that recorded."""
    gpu = Gpu()
    gpu.work_for(0.5)
    for leave in ("fork", "exec"):
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
            if leave == "exec":
                os.execv("/bin/sh", ["sh", "-c", f"while [ ! -e {marker}.end ]; do sleep 0.05; done; echo ended > {marker}.exec"])
            while not os.path.exists(marker + ".end"):
                time.sleep(0.05)
            with open(marker + ".fork", "w", encoding="ascii") as file:
                file.write("ended\n")
            os._exit(0)
    gpu.work(10)
    print("worked")


def no_descriptor_left(when):
    """All descriptors are taken, `when` "first" before any GPU work, else after half a second of it, until the end."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 256), hard))
    gpu = Gpu()
    if when != "first":
        gpu.work_for(0.5)
    taken = []
    with contextlib.suppress(OSError):
        while True:
            taken.append(os.open(os.devnull, os.O_RDONLY))
    gpu.work_for(0.5)
    print("worked", len(taken) > 100)


def close_libraries():
    """Libraries that the recording uses, and that the program loaded before it did, are closed by the program."""
    opened = [ctypes.CDLL(name) for name in ("libcupti.so.13", "libnvidia-ml.so.1", "libnccl.so.2")]
    gpu = Gpu()
    gpu.work_for(0.3)
    for library in opened:
        _ctypes.dlclose(library._handle)
    for _ in range(3):
        gpu.work_for(0.2)
        _ctypes.dlclose(ctypes.CDLL("libnvidia-ml.so.1")._handle)
    print("worked")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
