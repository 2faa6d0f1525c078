#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the project (figures.py) and writes them as JSON, for compare.py.

    measure.py build/release/bin -o before.json
    measure.py build/release/bin -o after.json
    compare.py before.json after.json

A figure that depends on time is measured between two runs of its calibration loop, in several rounds, all on one processor: what else the
machine does meets both. Exit code 1 if a figure is above its limit.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import sys
import tempfile

import figures


def pin(processor):
    """On one processor, the last of those that the process may use unless told."""
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[-1] if processor is None else processor})


def machine():
    model = next((line.split(":")[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
    return {"processor": model or platform.processor(), "processors": os.cpu_count(), "system": platform.release(), "python": platform.python_version()}


def ratio(figure, bench):
    """Of one round."""
    calibrate = figures.CALIBRATIONS[figure.calibration]
    before = calibrate(bench)
    cost = figure.measure(bench)
    return cost / statistics.mean((before, calibrate(bench)))


def measure(chosen, bench, rounds, say):
    """A value of each figure a round; one of those that do not depend on time."""
    values = {}
    for number in range(rounds):
        for figure in chosen:
            if figure.name in values and figure.calibration is None:
                continue
            say(f"round {number + 1} of {rounds}: {figure.name}")
            try:
                if number == 0:
                    figure.measure(bench)  # makes what it reads, and brings it into memory
                value = figure.measure(bench) if figure.calibration is None else ratio(figure, bench)
            except figures.Absent as absent:
                say(f"{figure.name}: left out, {absent}\n")
                values[figure.name] = []
                continue
            values.setdefault(figure.name, []).append(value)
    return {name: numbers for name, numbers in values.items() if numbers}


def show(board):
    broken = []
    for figure in figures.FIGURES:
        for size, values in ((size, board["figures"].get(f"{figure.name} ({size})")) for size in figures.SIZES):
            if not values:
                continue
            middle = statistics.median(values)
            over = middle > figure.limit
            broken += [f"{figure.name} ({size})"] * over
            print(f"{figure.name + ' (' + size + ')':<44} {middle:>10.3f} {figure.unit:<16} limit {figure.limit}{'  ABOVE IT' if over else ''}")
    return broken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder with analyze and traceview")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="the JSON file")
    parser.add_argument("--size", action="append", choices=list(figures.SIZES), help="of the inputs; may be repeated (default: small and large)")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--figure", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--processor", type=int, help="to run on (default: the last one that the process may use)")
    parser.add_argument("--folder", help="for the inputs (default: the system's for temporary files)")
    options = parser.parse_args()
    try:
        chosen = figures.named(options.figure)
    except ValueError as error:
        parser.error(str(error))
    pin(options.processor)

    def say(text):
        if sys.stderr.isatty() or text.endswith("\n"):
            print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end="", file=sys.stderr, flush=True)

    board = {"machine": machine(), "rounds": options.rounds, "figures": {}}
    for size in options.size or ["small", "large"]:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            try:
                values = measure(chosen, figures.Bench(options.programs.resolve(), folder, size), options.rounds, say)
            except figures.Failed as error:
                sys.exit(f"measure.py: {error}")
        board["figures"].update({f"{name} ({size})": numbers for name, numbers in values.items()})
    say("")
    if options.output:
        options.output.write_text(json.dumps(board, indent=1) + "\n")
    broken = show(board)
    if broken:
        sys.exit("above the limit: " + "; ".join(broken))


if __name__ == "__main__":
    main()
