# SPDX-License-Identifier: Apache-2.0
"""Trains on a stand-in for PyTorch and on the fake GPU, with costs that levers of TRACEINJECT_TRY take away: what try_test.py tries.

try_program.py [--steps N] [--seed N] [--base MS] [LEVER=MS ...] [--misbehave lever:how ...]

A step takes --base milliseconds, 5 % more or less, and 1 % from run to run, and the milliseconds of each LEVER on top as long as it is
not pulled (try_costs.py). Which costs are there is printed whenever that changes.
--misbehave: with that lever the program hangs, or fails (as with a message about memory: memory).
"""

import argparse
import ctypes
import os
import random
import subprocess
import sys
import time

import torch
import try_costs


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
    costs = {lever: float(ms) for lever, ms in (cost.split("=") for cost in options.cost)}
    of_run = random.Random(f"{options.seed} {os.getpid()}").gauss(1, 0.01)
    of_step = random.Random(f"{options.seed} {os.getpid()} steps")
    runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    trained, there = try_costs.Trained(torch), None
    for _ in range(options.steps):
        there_before, there = there, [lever for lever in costs if try_costs.COSTS[lever][1](trained)]
        if there != there_before:
            print("costs:", *there, flush=True)
        spend(options.base * of_run * of_step.gauss(1, 0.05) + sum(map(costs.get, there)))
        for _ in range(4):
            runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
        trained.step()


main()
