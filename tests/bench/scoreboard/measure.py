#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the project (figures.py) and writes them as JSON, for compare.py.

    measure.py /tmp/before/bin build/release/bin -o before.json -o after.json
    compare.py before.json after.json

A figure that depends on time is measured between two runs of its calibration loop, all on one processor: what else the machine does meets
both. Not alike, though: where another program ran on the same core, a scan took 1.4 times as long and an export 1.7 times. The rounds of
several folders are taken turn about, and then compared with each other; boards of different times (measure.py FOLDER -o FILE, twice) only
by their calibrations. Rounds go on until the standard error is small enough: nine on a quiet machine, some fifty on a busy one. Ctrl-C ends
it with what was measured. Exit code 1 if a figure is above its limit, 130 after Ctrl-C.
"""

import argparse
import json
import os
import pathlib
import platform
import signal
import sys
import tempfile
import uuid

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
FEWEST_PAIRS = 9


def one_round(figure, bench):
    calibrate = figures.CALIBRATIONS[figure.calibration]
    before = calibrate(bench)
    cost = figure.measure(bench)
    return cost, (before + calibrate(bench)) / 2


def is_precise(rounds, wanted):
    """Of one folder, or of each of several over the first."""
    first, *others = rounds
    if len(first) < (FEWEST_PAIRS if others else FEWEST_ROUNDS):
        return False
    values = [precision.of_pairs(first, other) for other in others] or [precision.of_rounds(first)]
    return all(value.error <= wanted for value in values)


def measure(chosen, benches, told, options, say):
    """Into `told`, of each bench and figure, the rounds, or the number where it does not depend on time. Turn about, so that what the machine
    does meets all. What was measured stands there when this is interrupted."""
    left = []
    for figure in chosen:
        say(figure.name)
        try:
            values = [figure.measure(bench) for bench in benches]  # makes what it reads, and brings it into memory
        except figures.Absent as absent:
            say(f"{figure.name}: left out, {absent}\n")
            continue
        for board, value in zip(told, values):
            board[figure.name] = value if figure.calibration is None else []
        left += [figure] * (figure.calibration is not None)
    for number in range(options.most_rounds):
        turns = list(zip(benches, told))[:: -1 if number % 2 else 1]
        for figure in left:
            say(f"round {number + 1}, {len(left)} figures: {figure.name}")
            for bench, board in turns:
                board[figure.name].append(one_round(figure, bench))
        left = [figure for figure in left if not is_precise([board[figure.name] for board in told], options.precision)]


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
    parser.add_argument("programs", type=pathlib.Path, nargs="+", help="the folder with analyze and traceview; of several, turn about")
    parser.add_argument("-o", "--output", type=pathlib.Path, action="append", default=[], help="the JSON file; one of each folder")
    parser.add_argument("--size", action="append", choices=list(figures.SIZES), help="of the inputs; may be repeated (default: small and large)")
    parser.add_argument("--precision", type=float, default=0.012, help="standard error to reach, as a share (default: %(default)s)")
    parser.add_argument("--most-rounds", type=int, default=60, help="however unsure a figure is then (default: %(default)s)")
    parser.add_argument("--figure", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--processor", type=int, help="to run on (default: the last one that the process may use)")
    parser.add_argument("--folder", help="for the inputs (default: the system's for temporary files)")
    options = parser.parse_args()
    for folder in options.programs:
        if missing := figures.need_programs(folder):
            parser.error(missing)
    if len(options.output) not in (0, len(options.programs)):
        parser.error(f"-o: {len(options.output)} files for {len(options.programs)} folders")
    try:
        chosen = figures.named(options.figure)
    except ValueError as error:
        parser.error(str(error))
    pin(options.processor)

    def say(text):
        if sys.stderr.isatty() or text.endswith("\n"):
            print(f"\r\033[K{text}" if sys.stderr.isatty() else text, end="", file=sys.stderr, flush=True)

    together = uuid.uuid4().hex  # of boards with this in common the rounds were taken turn about
    boards = [{"machine": machine(), "together": together, "figures": {}} for _ in options.programs]
    interrupted = False
    for size in options.size or ["small", "large"]:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            inputs = figures.Inputs(folder, size)
            benches = [figures.Bench(programs.resolve(), inputs) for programs in options.programs]
            told = [{} for _ in benches]
            try:
                measure(chosen, benches, told, options, say)
            except figures.Failed as error:
                sys.exit(f"measure.py: {error}")
            except KeyboardInterrupt:
                interrupted = True
        for board, of_board in zip(boards, told):
            board["figures"].update({f"{name} ({size})": one for name, one in of_board.items() if one != []})
        if interrupted:
            break
    say("")
    for board, path in zip(boards, options.output):
        path.write_text(json.dumps(board, indent=1) + "\n")
    broken = []
    for board, programs in zip(boards, options.programs):
        if len(boards) > 1:
            print(f"{programs}:")
        broken += show(board)
    if interrupted:
        print("measure.py: interrupted; what was measured until then is told", file=sys.stderr)
        sys.exit(128 + signal.SIGINT)
    if broken:
        sys.exit("above the limit: " + "; ".join(broken))


if __name__ == "__main__":
    main()
