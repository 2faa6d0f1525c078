#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What TRACEINJECT_WINDOW=every:100:2 adds to a step, measured inside one recorded process.

The process is recorded by the library, 2 of every 100 steps. Steps are timed in blocks of 10: what the block with the recorded steps
and the one after it (in which recording ends) take longer than the mean of the other eight of their hundred is what a window costs.
Printed is the median over the hundreds, as a share of all steps, with a 95 % interval (percentile bootstrap). What the library costs
between windows is not in it: see launch_cost.py, "after a window".

    LD_PRELOAD=libtraceinject.so TRACEINJECT_WINDOW=every:100:2 python3 window_cost.py --preset launch-bound
"""

import argparse
import gc
import os
import statistics
import sys
import time

import turns

BLOCK, CYCLE = 10, 100
WINDOW = f"every:{CYCLE}:2"


def cost_of(blocks_ms):
    """What a window adds to the steps of its hundred, in per cent; the first block is the one in which the window before ends."""
    after, *quiet, recorded = blocks_ms
    base = statistics.mean(quiet)
    return 100 * (after + recorded - 2 * base) / (len(blocks_ms) * base)


def measure(options):
    """Step times in ms, a block of steps each; the first block begins a hundred."""
    import transformer

    steps = CYCLE * (options.cycles + 1)
    sys.argv = ["transformer.py", "--preset", options.preset, "--steps", str(steps), "--workers", "0", *(["--ddp"] if options.ddp else [])]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(CYCLE):  # the first window is not like the others: CUPTI is set up in it
        trainer.step()
    gc.collect()
    gc.freeze()
    gc.disable()
    blocks_ms = []
    for _ in range(options.cycles * CYCLE // BLOCK):
        trainer.synchronise()
        started = time.perf_counter()
        for _ in range(BLOCK):
            trainer.step()
        trainer.synchronise()
        blocks_ms.append((time.perf_counter() - started) * 1e3 / BLOCK)
    return blocks_ms


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="launch-bound")
    parser.add_argument("--cycles", type=int, default=12, help="hundreds of steps (default: 12)")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel; start with torchrun")
    options = parser.parse_args()
    if os.environ.get("TRACEINJECT_WINDOW") != WINDOW:
        parser.error(f"set TRACEINJECT_WINDOW={WINDOW}, and LD_PRELOAD")
    blocks_ms = measure(options)
    per_cycle = CYCLE // BLOCK
    costs = [cost_of(blocks_ms[at:at + per_cycle]) for at in range(0, len(blocks_ms), per_cycle)]
    low, high = turns.interval(costs)
    print(f"{options.preset}, {WINDOW}, {options.cycles} windows, step {statistics.median(blocks_ms):.2f} ms: "
          f"adds {statistics.median(costs):+.2f} % ({low:+.2f} to {high:+.2f}) to the mean step")


if __name__ == "__main__":
    main()
