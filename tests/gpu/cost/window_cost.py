#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TRACEINJECT_WINDOW=every:100:2 adds to a step, measured inside one recorded process.

The process is recorded by the library, 2 of every 100 steps. Each step is timed, the GPU waited for after it. The steps that a window
may touch are the recorded ones, the one before and the 17 after them, in which recording ends and what was recorded is stored. How much
longer than the median of the others they take is what a window costs: for each of the twenty places the median over the windows
(a window does the same each time; a neighbour's doing hits a place at random), summed up, as a share of all steps, with a 95 % interval
(percentile bootstrap over windows). The same with means in place of medians tells what comes seldom, with the noise of the machine.
What the library costs between windows is not in it: see launch_cost.py, "after a window". With --every 40 windows come more often and tell
more in the same time; what they add is given for one in a hundred steps all the same. With --recorded 8 there are steps that lie within a
window, with one before and one after them: these tell what recording adds to a step, and the rest is what it costs to begin and end.

    LD_PRELOAD=libtraceinject.so TRACEINJECT_WINDOW=every:100:2 python3 window_cost.py --preset launch-bound
"""

import argparse
import gc
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import turns  # noqa: E402

SHARE_OF, TOUCHED = 100, 20


def over_quiet(cycle_ms):
    """What each step that the window may touch takes longer than the others, in per cent of one; `cycle_ms` begins with those."""
    base = statistics.median(cycle_ms[TOUCHED:])
    return [100 * (step / base - 1) for step in cycle_ms[:TOUCHED]]


def cost_of(cycles, middle):
    """What a window adds to a hundred steps, in per cent; `cycles` as over_quiet() returns them."""
    return sum(middle(place) for place in zip(*cycles)) / SHARE_OF


def within(cycles, recorded):
    """What recording adds to a step, in per cent of one: of those with a recorded one before and after them."""
    return statistics.mean([statistics.median(place) for place in zip(*cycles)][2:recorded])


def beyond(cycles, recorded):
    """What the places of a window take longer, beyond so many recorded steps, in per cent of one."""
    return sum(statistics.median(place) for place in list(zip(*cycles))[:recorded + 1]) - recorded * within(cycles, recorded)


def measure(options):
    """The steps from window to window in ms, from the one before the recorded ones on."""
    import transformer

    # The first window is not like the others: CUPTI is set up in it.
    before = 2 * options.every - options.recorded - 1
    steps = before + options.every * options.cycles
    sys.argv = ["transformer.py", "--preset", options.preset, "--steps", str(steps), "--workers", "0", *(["--ddp"] if options.ddp else [])]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(before):
        trainer.step()
    gc.collect()
    gc.freeze()
    gc.disable()
    steps_ms = []
    trainer.synchronise()
    for _ in range(options.every * options.cycles):
        started = time.perf_counter()
        trainer.step()
        trainer.synchronise()
        steps_ms.append((time.perf_counter() - started) * 1e3)
    return [steps_ms[at:at + options.every] for at in range(0, len(steps_ms), options.every)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="launch-bound")
    parser.add_argument("--cycles", type=int, default=12, help="windows (default: 12)")
    parser.add_argument("--every", type=int, default=SHARE_OF, help=f"steps from window to window, twice {TOUCHED} at least (default: {SHARE_OF})")
    parser.add_argument("--recorded", type=int, default=2, help="of them, those of a window (default: 2)")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel; start with torchrun")
    options = parser.parse_args()
    if options.every < 2 * TOUCHED:
        parser.error(f"--every {options.every}: fewer than {2 * TOUCHED}, so that too few steps are left to compare with")
    if not 1 <= options.recorded <= TOUCHED // 2:
        parser.error(f"--recorded {options.recorded}: from 1 to {TOUCHED // 2}")
    window = f"every:{options.every}:{options.recorded}"
    if os.environ.get("TRACEINJECT_WINDOW") != window:
        parser.error(f"set TRACEINJECT_WINDOW={window}, and LD_PRELOAD")
    cycles_ms = measure(options)
    cycles = [over_quiet(cycle) for cycle in cycles_ms]
    print(f"{options.preset}, {window}, {options.cycles} windows, step {statistics.median(sum(cycles_ms, [])):.2f} ms; one adds to the mean of {SHARE_OF} steps:")
    for name, middle in (("medians", statistics.median), ("means", statistics.mean)):
        low, high = turns.interval(cycles, lambda drawn, middle=middle: cost_of(drawn, middle), 1000)
        print(f"  {name}: {cost_of(cycles, middle):+.3f} % ({low:+.3f} to {high:+.3f})")
    if options.recorded > 2:
        for name, figure in (("a step within a window", within), (f"a window beyond {options.recorded} of these", beyond)):
            low, high = turns.interval(cycles, lambda drawn, figure=figure: figure(drawn, options.recorded), 1000)
            print(f"  {name}, % of a step: {figure(cycles, options.recorded):+.2f} ({low:+.2f} to {high:+.2f})")
    print("  by place, % of a step: " + " ".join(f"{statistics.median(place):+.1f}" for place in zip(*cycles)))


if __name__ == "__main__":
    main()
