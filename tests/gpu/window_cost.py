#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TRACEINJECT_WINDOW=every:100:2 adds to a step, measured inside one recorded process.

The process is recorded by the library, 2 of every 100 steps. Each step is timed, the GPU waited for after it. The steps that a window
may touch are the recorded ones, the one before and the 17 after them, in which recording ends and what was recorded is stored. How much
longer than the median of the other eighty they take is what a window costs: for each of the twenty places the median over the hundreds
(a window does the same each time; a neighbour's doing hits a place at random), summed up, as a share of all steps, with a 95 % interval
(percentile bootstrap over hundreds). The same with means in place of medians tells what comes seldom, with the noise of the machine.
What the library costs between windows is not in it: see launch_cost.py, "after a window".

    LD_PRELOAD=libtraceinject.so TRACEINJECT_WINDOW=every:100:2 python3 window_cost.py --preset launch-bound
"""

import argparse
import gc
import os
import statistics
import sys
import time

import turns

CYCLE, TOUCHED = 100, 20
WINDOW = f"every:{CYCLE}:2"


def over_quiet(cycle_ms):
    """What each step that the window may touch takes longer than the others, in per cent of one; `cycle_ms` begins with those."""
    base = statistics.median(cycle_ms[TOUCHED:])
    return [100 * (step / base - 1) for step in cycle_ms[:TOUCHED]]


def cost_of(cycles, middle):
    """What a window adds to the steps of its hundred, in per cent; `cycles` as over_quiet() returns them."""
    return sum(middle(place) for place in zip(*cycles)) / CYCLE


def measure(options):
    """The steps of each hundred in ms, from the one before the recorded ones on."""
    import transformer

    # The first window is not like the others: CUPTI is set up in it.
    before = 2 * CYCLE - 3
    steps = before + CYCLE * options.cycles
    sys.argv = ["transformer.py", "--preset", options.preset, "--steps", str(steps), "--workers", "0", *(["--ddp"] if options.ddp else [])]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(before):
        trainer.step()
    gc.collect()
    gc.freeze()
    gc.disable()
    steps_ms = []
    trainer.synchronise()
    for _ in range(CYCLE * options.cycles):
        started = time.perf_counter()
        trainer.step()
        trainer.synchronise()
        steps_ms.append((time.perf_counter() - started) * 1e3)
    return [steps_ms[at:at + CYCLE] for at in range(0, len(steps_ms), CYCLE)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="launch-bound")
    parser.add_argument("--cycles", type=int, default=12, help="hundreds of steps (default: 12)")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel; start with torchrun")
    options = parser.parse_args()
    if os.environ.get("TRACEINJECT_WINDOW") != WINDOW:
        parser.error(f"set TRACEINJECT_WINDOW={WINDOW}, and LD_PRELOAD")
    cycles_ms = measure(options)
    cycles = [over_quiet(cycle) for cycle in cycles_ms]
    print(f"{options.preset}, {WINDOW}, {options.cycles} windows, step {statistics.median(sum(cycles_ms, [])):.2f} ms; added to the mean step:")
    for name, middle in (("medians", statistics.median), ("means", statistics.mean)):
        low, high = turns.interval(cycles, lambda drawn, middle=middle: cost_of(drawn, middle), 1000)
        print(f"  {name}: {cost_of(cycles, middle):+.3f} % ({low:+.3f} to {high:+.3f})")
    print("  by place, % of a step: " + " ".join(f"{statistics.median(place):+.1f}" for place in zip(*cycles)))


if __name__ == "__main__":
    main()
