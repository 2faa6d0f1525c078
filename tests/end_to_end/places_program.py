# SPDX-License-Identifier: Apache-2.0
"""A training loop on the fake GPU with one line that is slow among many that are not: `places_program.py KIND STEPS`.

Prints as JSON how long the line and the loop took, by the program's own clock.
"""

import ctypes
import json
import sys
import time

from stacks_program import Dim3, Kernel

RUNTIME = ctypes.CDLL("libcudart.so.13")
ONE = Dim3(1, 1, 1)
KERNELS = [Kernel(0x4b45524e454c4b31, name, length_ns, 32, 0, 0)
           for name, length_ns in ((b"embed", 50_000), (b"gemm_a", 300_000), (b"gemm_b", 200_000), (b"loss", 80_000), (b"adam", 120_000))]


def launch(kernel):
    RUNTIME.cudaLaunchKernel(ctypes.byref(kernel), ONE, ONE, None, ctypes.c_size_t(0), None)


def library(text):
    """What it defines, as of an installed package: a line that calls it stands for what it does."""
    space = {"time": time}
    exec(compile(text, "/w/site-packages/spinning.py", "exec"), space)
    return space


spin = library("""
def spin(milliseconds):
    until = time.perf_counter() + milliseconds / 1e3
    while time.perf_counter() < until:
        pass
""")["spin"]


def compute():
    return sum(i * i for i in range(150_000))  # compute


def sleep():
    time.sleep(0.01)  # sleep


def decoys():
    return [eval(compile("\n" * number + f"lambda: spin({0.1 + number % 3 / 10})", f"/w/decoy{number % 4}.py", "eval"), {"spin": spin})
            for number in range(20)]


def train(kind, steps):
    planted, others, slow = {"compute": compute, "sleep": sleep, "none": int}[kind], decoys(), 0
    begin = time.perf_counter()
    for _ in range(steps):
        launch(KERNELS[0])
        for number, decoy in enumerate(others):
            launch(KERNELS[1 + number % 2])
            decoy()
        launch(KERNELS[3])
        start = time.perf_counter()
        planted()
        slow += time.perf_counter() - start
        launch(KERNELS[4])
    return {"slow": slow, "all": time.perf_counter() - begin}


if __name__ == "__main__":
    print(json.dumps(train(sys.argv[1], int(sys.argv[2]))))
