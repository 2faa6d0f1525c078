#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording adds to one kernel launch, on the thread that launches.

A launch-bound training step is as slow as its launches, but on a shared machine its time scatters by several per cent, more than
recording costs. This measures the launch itself (launch_cost.cc): an empty kernel, over and over, a process for each configuration in
turns. Printed are medians over the rounds with 95 % intervals (percentile bootstrap over rounds) of the lowest decile of each process,
and of its differences to the processes of the same round that are untraced and that record kernels only. Of configurations that
record by turns it is the mean instead of the lowest decile, also of what they are compared with.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import tempfile

def kinds(names):
    return {"TRACEINJECT_KINDS": names}


def window(text, **more):
    return {"TRACEINJECT_WINDOW": text, **more}


DETACH = {"TRACEINJECT_DETACH": "1"}


CONFIGURATIONS = {  # what the environment has; None: no library
    "untraced": None,
    "loaded": window("trigger"),  # never enabled
    "after a window": window("seconds:0-1"),
    "after a window, detached": window("seconds:0-1", **DETACH),
    "1 of 4 s": window("every:4s:1s"),
    "1 of 4 s, detached": window("every:4s:1s", **DETACH),
    "kernel": kinds("kernel"),
    "kernel,memcpy,memset": kinds("kernel,memcpy,memset"),
    "kernel,memcpy2": kinds("kernel,memcpy2"),
    "kernel,api": kinds("kernel,api"),
    "default": {},
    "default,memory": kinds("kernel,memcpy,memcpy2,memset,api,memory"),
    "default,memory,stream": kinds("kernel,memcpy,memcpy2,memset,api,memory,stream"),
    "kernel,synchronization": kinds("kernel,synchronization"),
    "kernel,cuda_event": kinds("kernel,cuda_event"),
    "kernel,overhead": kinds("kernel,overhead"),
}
FLOOR = "kernel"
BY_TURNS = {"1 of 4 s": 4.0, "1 of 4 s, detached": 4.0}  # their period, s
UNRECORDED = ("untraced", "loaded")
AFTER_S = 2.0  # when the first window is over: then all configurations begin, if one of them has windows
WARM_S = 0.3


def measure(options, name, folder):
    """(lowest decile, mean), ns a launch."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACEINJECT")}
    environment["PADDING"] = "x" * random.randrange(4096)  # where the stack lies decides on some per cent
    if CONFIGURATIONS[name] is not None:
        environment.update(LD_PRELOAD=options.library, TRACEINJECT_OUTPUT=f"{folder}/run.db", **CONFIGURATIONS[name])
    command = [options.program, str(options.after_s), str(BY_TURNS.get(name, options.seconds))] + ([options.runtime] if options.runtime else [])
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    recorded = list(pathlib.Path(folder).glob("*.db"))
    if not recorded and name not in UNRECORDED:
        raise RuntimeError(f"{name}: nothing was recorded")
    for path in recorded:
        path.unlink()
    _, decile, mean = map(float, done.stdout.split())
    return decile, mean


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
    parser.add_argument("--seconds", type=float, default=1.0, help="measured, of each process (default: 1)")
    parser.add_argument("--configuration", action="append", choices=CONFIGURATIONS, help="may be repeated (default: all)")
    options = parser.parse_args()
    options.library = os.path.realpath(options.library)
    names = options.configuration or list(CONFIGURATIONS)
    options.after_s = AFTER_S if any(name in BY_TURNS or name.startswith("after") for name in names) else WARM_S
    ns = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds):
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                ns[name].append(measure(options, name, folder))
    print(f"{options.runtime or 'driver'}, {options.rounds} interleaved rounds:\n")
    print("| recorded | launch, ns (95 %) | over untraced, ns (95 %) | over kernels only, ns (95 %) |\n|---|---|---|---|")
    for name in names:
        which = name in BY_TURNS
        mine = [values[which] for values in ns[name]]
        over = ["" if base not in ns or name in (base, "untraced") else interval([m - values[which] for m, values in zip(mine, ns[base])])
                for base in ("untraced", FLOOR)]
        print(f"| {name} | {interval(mine)} | {over[0]} | {over[1]} |")


if __name__ == "__main__":
    main()
