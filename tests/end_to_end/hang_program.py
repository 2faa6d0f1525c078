# SPDX-License-Identifier: Apache-2.0
"""A rank of a job on the fake GPU that hangs: `hang_program.py wait`, in a call that waits for the GPU; `hang_program.py read`, elsewhere."""

import ctypes
import sys
import threading
import time

from stacks_program import Dim3, Kernel

RUNTIME = ctypes.CDLL("libcudart.so.13")
ONE = Dim3(1, 1, 1)
QUICK_NS, ENDLESS_NS = 100_000, 10 ** 15


def launch(length_ns):
    kernel = Kernel(0x4b45524e454c4b31, b"reduce", length_ns, 32, 0, 0)
    RUNTIME.cudaLaunchKernel(ctypes.byref(kernel), ONE, ONE, None, ctypes.c_size_t(0), None)


def wait():
    launch(ENDLESS_NS)
    RUNTIME.cudaDeviceSynchronize()  # wait


def read():
    time.sleep(10_000)  # read


def log():
    threading.Event().wait()  # log


def step(how):
    launch(QUICK_NS)
    {"wait": wait, "read": read}[how]()  # step


threading.Thread(target=log, daemon=True, name="logger").start()
for _ in range(20):
    launch(QUICK_NS)
step(sys.argv[1])  # main
