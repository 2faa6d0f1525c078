#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the project (figures.py) and writes them as JSON, for compare.py.

    measure.py build/release/bin -o before.json
    measure.py build/release/bin -o after.json
    compare.py before.json after.json

A figure that depends on time is measured between two runs of its calibration loop, all on one processor: what else the machine does meets
both. Rounds go on until the standard error is small enough: nine on a quiet machine, some fifty on a busy one. Exit code 1 if a figure is
above its limit.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
import tempfile

import figures
import precision


def pin(processor):
    """On one processor, the last of those that the process may use unless told."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[-1] if processor is None else processor})


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    return {"processor": model or platform.processor(), "processors": os.cpu_count(), "system": platform.release(), "python": platform.python_version()}


FEWEST_ROUNDS = 6


def one_round(figure, bench):
    calibrate = figures.CALIBRATIONS[figure.calibration]
    before = calibrate(bench)
    cost = figure.measure(bench)
    return cost, (before + calibrate(bench)) / 2


def is_precise(rounds, wanted):
    return len(rounds) >= FEWEST_ROUNDS and precision.of_rounds(rounds).error <= wanted


def measure(chosen, bench, options, say):
    """Of each figure its rounds, or its number where it does not depend on time. Turn about, so that what the machine does meets all."""
    told = {}
    left = []
    for figure in chosen:
        say(figure.name)
        try:
            value = figure.measure(bench)  # makes what it reads, and brings it into memory
        except figures.Absent as absent:
            say(f"{figure.name}: left out, {absent}\n")
            continue
        told[figure.name] = value if figure.calibration is None else []
        left += [figure] * (figure.calibration is not None)
    for number in range(options.most_rounds):
        for figure in left:
            say(f"round {number + 1}, {len(left)} figures: {figure.name}")
            told[figure.name].append(one_round(figure, bench))
        left = [figure for figure in left if not is_precise(told[figure.name], options.precision)]
    return told


def show(board):
    broken = []
    for figure in figures.FIGURES:
        for size in figures.SIZES:
            name = f"{figure.name} ({size})"
            if name not in board["figures"]:
                continue
            value = precision.of_figure(board["figures"][name])
            if value.middle > figure.limit:
                broken.append(name)
            surely = f" +-{100 * value.error:.1f} %" if value.error else ""
            print(f"{name:<44} {value.middle:>10.3f}{surely:<10} {figure.unit:<16} limit {figure.limit}{'  ABOVE IT' if name in broken else ''}")
    return broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder with analyze and traceview")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="the JSON file")
    parser.add_argument("--size", action="append", choices=list(figures.SIZES), help="of the inputs; may be repeated (default: small and large)")
    parser.add_argument("--precision", type=float, default=0.012, help="standard error to reach, as a share (default: %(default)s)")
    parser.add_argument("--most-rounds", type=int, default=60, help="however unsure a figure is then (default: %(default)s)")
    parser.add_argument("--figure", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--processor", type=int, help="to run on (default: the last one that the process may use)")
    parser.add_argument("--folder", help="for the inputs (default: the system's for temporary files)")
    options = parser.parse_args()
    if missing := figures.need_programs(options.programs):
        parser.error(missing)
    try:
        chosen = figures.named(options.figure)
    except ValueError as error:
        parser.error(str(error))
    pin(options.processor)

    def say(text):
        if sys.stderr.isatty() or text.endswith("\n"):
            print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end="", file=sys.stderr, flush=True)

    board = {"machine": machine(), "figures": {}}
    for size in options.size or ["small", "large"]:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            try:
                told = measure(chosen, figures.Bench(options.programs.resolve(), folder, size), options, say)
            except figures.Failed as error:
                sys.exit(f"measure.py: {error}")
        board["figures"].update({f"{name} ({size})": one for name, one in told.items()})
    say("")
    if options.output:
        options.output.write_text(json.dumps(board, indent=1) + "\n")
    broken = show(board)
    if broken:
        sys.exit("above the limit: " + "; ".join(broken))


if __name__ == "__main__":
    main()
