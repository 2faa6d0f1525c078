# SPDX-License-Identifier: Apache-2.0
"""Step times of one process under several settings, which take turns: for costs below the difference between two processes.

A step is timed on the GPU, from the end of the one before to its own. A block that the host's clock times between two
synchronisations also has the host's way to the first kernel in it, which a few steps do not hide.
"""

import argparse
import gc
import json
import math
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "samples" / "workloads"))


def add_options(parser, settings, floor):
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="launch-bound")
    parser.add_argument("--rounds", type=int, default=25, help="blocks of each setting (default: 25)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no round after so long (default: no limit)")
    parser.add_argument("--block", type=int, default=10, help="steps timed after each switch (default: 10)")
    parser.add_argument("--settle", type=int, default=3, help="steps after a switch that are not timed (default: 3)")
    parser.add_argument("--setting", action="append", choices=settings, help="may be repeated (default: all)")
    parser.add_argument("--raw", type=argparse.FileType("w"), help="write each step in ms to this file, as JSON: {setting: [[a block's steps]]}")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel; start with torchrun")
    parser.add_argument("--over", choices=settings, default=floor, help=f"the setting to compare with (default: {floor})")


def chosen(options, settings):
    """What is measured: the settings asked for, and the one to compare with."""
    return list(dict.fromkeys([options.over, *(options.setting or settings)]))


def interval(values, of=statistics.median, rounds=4000):
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(values, k=len(values))) for _ in range(rounds))
    return drawn[int(0.025 * rounds)], drawn[int(0.975 * rounds)]


def measure(options, settings, make_switch):
    """{setting: [[ms of each step] of each block]}; make_switch() is called once the program trains, what it returns with each setting."""
    import transformer

    if options.ddp and options.seconds < math.inf:
        sys.exit("turns: with --ddp say how many --rounds: after --seconds some ranks would stop and others wait for them")

    steps = options.rounds * len(settings) * (options.block + options.settle) + 20
    sys.argv = ["transformer.py", "--preset", options.preset, "--steps", str(steps), "--workers", "0", *(["--ddp"] if options.ddp else [])]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(15):
        trainer.step()
    switch = make_switch()
    # Collections take as long as what is measured, and come in some steps only.
    gc.collect()
    gc.freeze()
    gc.disable()
    order = random.Random(1)  # no setting follows the same one always, whose last records are still being stored
    step_ms = {setting: [] for setting in settings}
    device, end = trainer.replicas[0].device, time.monotonic() + options.seconds
    for _ in range(options.rounds):
        if time.monotonic() > end:
            break
        for setting in order.sample(settings, len(settings)):
            trainer.synchronise()
            switch(setting)
            for _ in range(options.settle):
                trainer.step()
            ends = transformer.StepEnds(device)
            ends.mark()
            for _ in range(options.block):
                trainer.step()
                ends.mark()
            trainer.synchronise()
            step_ms[setting].append(ends.lengths_ms())
    if options.raw:
        json.dump(step_ms, options.raw)
    return step_ms


def table(options, step_ms):
    """The median over the rounds of the difference within a round, of the mean and of the median step of a block."""
    floor = options.over
    rounds = len(step_ms[floor])
    lines = [f"{options.preset}, one process, {rounds} rounds of {options.block} steps each:", "",
             f"| setting | step, ms | mean step over {floor}, % (95 %) | median step over {floor}, % (95 %) |", "|---|---|---|---|"]
    for setting, blocks in step_ms.items():
        middle = statistics.median(statistics.median(block) for block in blocks)
        lines.append(f"| {setting} | {middle:.2f} | {over(blocks, step_ms[floor], statistics.fmean)} "
                     f"| {over(blocks, step_ms[floor], statistics.median)} |")
    return "\n".join(lines)


def over(blocks, floor, of):
    base = statistics.median(map(of, floor))
    differences = [100 * (of(mine) - of(of_floor)) / base for mine, of_floor in zip(blocks, floor)]
    low, high = interval(differences)
    return f"{statistics.median(differences):+.2f} ({low:+.2f} to {high:+.2f})"
