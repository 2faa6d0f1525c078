#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to one kernel launch, on the thread that launches.

A launch-bound training step is as slow as its launches, but on a shared machine its time scatters by several per cent, more than
recording costs. This measures the launch itself (launch_cost.cc): an empty kernel, a hundred thousand launches a process, a process
for each configuration in turns. Printed are medians over the rounds with 95 % intervals (percentile bootstrap over rounds) of the
lowest decile of each process, and of its difference to the process of the same round that records kernels only.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

CONFIGURATIONS = {
    "untraced": None,
    "kernel": "kernel",
    "kernel,memcpy,memset": "kernel,memcpy,memset",
    "kernel,memcpy2": "kernel,memcpy2",
    "kernel,api": "kernel,api",
    "default": "",
    "default,memory": "kernel,memcpy,memcpy2,memset,api,memory",
    "default,memory,stream": "kernel,memcpy,memcpy2,memset,api,memory,stream",
    "kernel,synchronization": "kernel,synchronization",
    "kernel,cuda_event": "kernel,cuda_event",
    "kernel,overhead": "kernel,overhead",
}
FLOOR = "kernel"


def measure(options, kinds, folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRACEINJECT")}
    if kinds is not None:
        environment.update(LD_PRELOAD=options.library, TRACEINJECT_OUTPUT=f"{folder}/run.db")
    if kinds:
        environment["TRACEINJECT_KINDS"] = kinds
    command = [options.program] + ([options.runtime] if options.runtime else [])
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    recorded = list(pathlib.Path(folder).glob("*.db"))
    if bool(recorded) != (kinds is not None):
        raise RuntimeError(f"{kinds}: recordings: {recorded}")
    for path in recorded:
        path.unlink()
    return float(done.stdout.split()[1])


def interval(values, rounds=4000):
    draw = random.Random(1)
    drawn = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(rounds))
    return f"{statistics.median(values):.0f} ({drawn[int(0.025 * rounds)]:.0f} to {drawn[int(0.975 * rounds)]:.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the launch_cost program")
    parser.add_argument("--library", required=True, help="libtraceinject.so")
    parser.add_argument("--runtime", help="launch through this libcudart.so (default: through the driver)")
    parser.add_argument("--rounds", type=int, default=15, help="processes of each configuration (default: 15)")
    parser.add_argument("--configuration", action="append", choices=CONFIGURATIONS, help="may be repeated (default: all)")
    options = parser.parse_args()
    options.library = os.path.realpath(options.library)
    names = options.configuration or list(CONFIGURATIONS)
    ns = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds):
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                ns[name].append(measure(options, CONFIGURATIONS[name], folder))
    print(f"{options.runtime or 'driver'}, {options.rounds} interleaved rounds:\n")
    print("| recorded | launch, ns (95 %) | over kernels only, ns (95 %) |\n|---|---|---|")
    for name in names:
        over = ""
        if FLOOR in ns and name not in ("untraced", FLOOR):
            over = interval([mine - floor for mine, floor in zip(ns[name], ns[FLOOR])])
        print(f"| {name} | {interval(ns[name])} | {over} |")


if __name__ == "__main__":
    main()
