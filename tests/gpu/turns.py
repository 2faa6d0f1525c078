# SPDX-License-Identifier: Apache-2.0
"""Step times of one process under several settings, which take turns: for costs below the difference between two processes."""

import gc
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "samples" / "workloads"))


def add_options(parser, settings, floor):
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="launch-bound")
    parser.add_argument("--rounds", type=int, default=25, help="blocks of each setting (default: 25)")
    parser.add_argument("--block", type=int, default=10, help="steps timed together (default: 10)")
    parser.add_argument("--settle", type=int, default=2, help="steps after a switch that are not timed (default: 2)")
    parser.add_argument("--setting", action="append", choices=settings, help="may be repeated (default: all)")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel; start with torchrun")
    parser.add_argument("--over", choices=settings, default=floor, help=f"the setting to compare with (default: {floor})")


def interval(values, of=statistics.median, rounds=4000):
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(values, k=len(values))) for _ in range(rounds))
    return drawn[int(0.025 * rounds)], drawn[int(0.975 * rounds)]


def measure(options, settings, make_switch):
    """{setting: [step in ms, a block each]}; make_switch() is called once the program trains, what it returns with each setting."""
    import transformer

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
    for _ in range(options.rounds):
        for setting in order.sample(settings, len(settings)):
            trainer.synchronise()
            switch(setting)
            for _ in range(options.settle):
                trainer.step()
            trainer.synchronise()
            started = time.perf_counter()
            for _ in range(options.block):
                trainer.step()
            trainer.synchronise()
            step_ms[setting].append((time.perf_counter() - started) * 1e3 / options.block)
    return step_ms


def table(options, step_ms):
    """The median over the rounds of the difference within a round."""
    floor = options.over
    base = statistics.median(step_ms[floor])
    lines = [f"{options.preset}, one process, {options.rounds} rounds of {options.block} steps each:", "",
             f"| setting | step, ms | over {floor}, % of the step (95 %) |", "|---|---|---|"]
    for setting, times in step_ms.items():
        over = [100 * (mine - of_floor) / base for mine, of_floor in zip(times, step_ms[floor])]
        low, high = interval(over)
        lines.append(f"| {setting} | {statistics.median(times):.2f} | {statistics.median(over):+.2f} ({low:+.2f} to {high:+.2f}) |")
    return "\n".join(lines)
