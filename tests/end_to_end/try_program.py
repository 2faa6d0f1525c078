# SPDX-License-Identifier: Apache-2.0
"""Trains on the stand-in for PyTorch and the fake GPU, with costs that levers of TRACEINJECT_TRY take away: what try_test.py tries.

try_program.py [--steps N] [--seed N] [--base MS] [COST=MS ...] [--misbehave lever:how ...]

A step takes --base milliseconds, 5 % more or less, and 1 % from run to run, and each COST on top as long as its lever is not pulled.
--misbehave: with that lever the program hangs, or fails (as with a message about memory: memory).
"""

import argparse
import ctypes
import gc
import os
import random
import subprocess
import sys
import time

import torch

# Whether a cost is there.
COSTS = {
    "omp_threads": lambda loader: os.environ.get("OMP_NUM_THREADS") != "2",
    "variable": lambda loader: "NCCL_P2P_DISABLE" in os.environ,
    "num_workers": lambda loader: loader.num_workers == 0,
    "gc_threshold": lambda loader: gc.get_threshold()[0] != 0,
    "checkpoint": lambda loader: False,  # torch.save() takes it
}


def spend(ms):
    """Not by sleeping, which takes longer than asked for."""
    until = time.perf_counter() + ms / 1e3
    while time.perf_counter() < until:
        pass


def misbehave(asked):
    for one in asked:
        lever, how = one.split(":")
        if f"{lever}=" not in os.environ.get("TRACEINJECT_TRY", ""):
            continue
        if how == "hang":
            time.sleep(1000)
        sys.exit("torch.OutOfMemoryError: CUDA out of memory." if how == "memory" else "it went wrong")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--base", type=float, default=3)
    parser.add_argument("--misbehave", nargs="*", default=[])
    parser.add_argument("--child", action="store_true", help="start one in a session of its own, which does not end when asked to")
    parser.add_argument("cost", nargs="*")
    options = parser.parse_args()
    if options.child:
        subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"], start_new_session=True)
    misbehave(options.misbehave)
    costs = {name: float(ms) for name, ms in (cost.split("=") for cost in options.cost)}
    of_run = random.Random(f"{options.seed} {os.getpid()}").gauss(1, 0.01)
    of_step = random.Random(f"{options.seed} {os.getpid()} steps")
    runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    loader, optimizer = torch.utils.data.DataLoader(range(4)), torch.optim.SGD()
    there = {name: COSTS[name](loader) for name in costs}
    for step in range(options.steps):
        spend(options.base * of_run * of_step.gauss(1, 0.05) + sum(ms for name, ms in costs.items() if there[name]))
        if "checkpoint" in costs:
            torch.save(torch.serialization.Slow(costs["checkpoint"] / 1e3), "model.pt")
        for _ in range(4):
            runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
        optimizer.step()


main()
