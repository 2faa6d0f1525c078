#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs, told three ways that have to agree: by processes that take turns, by TRACEINJECT_AB in one process, and by
what `analyze` says of a recording that is made without either.

Machines change their speed by half within seconds, and processes of one program differ by some per cent. So all processes, recorded
and not, are alive at the same time (full_batch_gnn.py, or another --program), and each makes a few steps in every round, in an order
that is drawn anew; what a process takes is compared with the mean of its round, and the difference of two arms is that of their
processes, with the 95 % interval of Welch's test over processes.

Arms
  plain      no library
  resident   the library, told to wait for a start that never comes: CUPTI is there, and nothing is on
  kernels    records of kernels alone, and none of the sources beside CUPTI
  stopped    the library, told to record a few steps before the first round and none since: what the unrecorded blocks of TRACEINJECT_AB have
  detached   the same, with CUPTI taken out of the process afterwards (TRACEINJECT_DETACH)
  full       the defaults
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import select
import statistics
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks, summary  # noqa: E402

WITHOUT_SOURCES = {f"TRACEINJECT_{name}": "0" for name in ("SYNC", "GEMM", "PYTHON", "NVTX", "NCCL", "TELEMETRY_HZ", "STALL")}
ONCE = "steps:5-15"
ARMS = {
    "plain": None,
    "resident": {"TRACEINJECT_WINDOW": "trigger"},
    "kernels": {"TRACEINJECT_KINDS": "kernel", **WITHOUT_SOURCES},
    "stopped": {"TRACEINJECT_WINDOW": ONCE},
    "detached": {"TRACEINJECT_WINDOW": ONCE, "TRACEINJECT_DETACH": "1"},
    "full": {},
}
ALONE = {"ab": {"TRACEINJECT_AB": "steps"}, "report": {}}  # these make their steps in one go, for analyze
ALONE_STEPS = 1000
PROGRAMS = ("full_batch_gnn", "small_layers")
ANSWER_S = 100
FIGURES = ("step_ms", "launch_us", "item_us", "wait_us")
# The 97.5 % points of Student's distribution for 1, 2, ... degrees of freedom.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


class Process:
    def __init__(self, name, settings, options):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACEINJECT")}
        environment["PADDING"] = "x" * random.randrange(4096)  # where the stack lies decides on some per cent
        self.recording = options.out / f"{name}.db"
        if settings is not None:
            environment |= {"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": str(self.recording), **settings}
        self.log = open(options.out / f"{name}.log", "w")
        self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name(f"{options.program}.py")], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def answer(self):
        if not select.select([self.process.stdout], [], [], ANSWER_S)[0]:
            raise RuntimeError(f"{self.log.name}: no answer within {ANSWER_S} s")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.log.name}: the process has ended: {pathlib.Path(self.log.name).read_text()[-500:]}")
        return line

    def wait_until_ready(self):
        while self.answer().strip() != "ready":
            pass

    def turn(self, steps):
        print(steps, file=self.process.stdin, flush=True)
        return json.loads(self.answer())

    def begin_end(self):
        self.process.stdin.close()

    def end(self):
        self.process.wait(ANSWER_S)
        self.log.close()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Processes:
    """Several, by name, alive at the same time."""

    def __init__(self, settings, options):
        self.by_name = {}
        try:
            # Memory, cores and the GPU's channels are had in the order in which processes start.
            for name, of in random.sample(list(settings.items()), len(settings)):
                self.by_name[name] = Process("".join(map(str, name)), of, options)
            for process in self.by_name.values():
                process.wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self.by_name

    def __exit__(self, error, *_):
        if error:
            return self.kill()
        for process in self.by_name.values():
            process.begin_end()
        for process in self.by_name.values():
            process.end()

    def kill(self):
        for process in self.by_name.values():
            process.kill()


def deviations(turns):
    """{process: its mean over the rounds of what it took more than all of its round did}; `turns`: {process: a figure a round}."""
    rounds = [statistics.fmean(figures) for figures in zip(*turns.values())]
    return {process: statistics.fmean(mine - usual for mine, usual in zip(figures, rounds)) for process, figures in turns.items()}


def difference(mine, base):
    """(difference of the means, its 95 % interval); Welch's test."""
    parts = [statistics.variance(values) / len(values) for values in (mine, base)]
    freedom = sum(parts) ** 2 / sum(part ** 2 / (len(values) - 1) for part, values in zip(parts, (mine, base))) if sum(parts) else 1
    reach = math.sqrt(sum(parts)) * STUDENT[min(int(freedom), len(STUDENT)) - 1]
    middle = statistics.fmean(mine) - statistics.fmean(base)
    return middle, middle - reach, middle + reach


def overlap(one, other):
    return one[1] <= other[2] and other[1] <= one[2]


def take_turns(processes, options, end):
    """{arm: {number: [a turn's figures, ...]}}; only whole rounds."""
    turns = collections.defaultdict(lambda: collections.defaultdict(list))
    order = random.Random(1)
    for _ in range(options.rounds):
        if time.monotonic() > end:
            break
        for arm, number in order.sample(list(processes), len(processes)):
            turns[arm][number].append(processes[arm, number].turn(options.steps))
    return turns


def compare(turns):
    """{figure: {arm: (difference to plain, low, high)}}"""
    found = {}
    for figure in FIGURES:
        of_all = deviations({(arm, number): [one[figure] for one in rows] for arm, mine in turns.items() for number, rows in mine.items()})
        by_arm = {arm: [value for (of, _), value in of_all.items() if of == arm] for arm in turns}
        found[figure] = {arm: difference(values, by_arm["plain"]) for arm, values in by_arm.items() if arm != "plain"}
    return found


def told_ms(report):
    """What a report says that recording adds to a step: {"verdict" or "ab": (ms, low, high)}."""
    told, verdict = {}, report["verdict"]
    if "recording_low_ns" in verdict:
        told["verdict"] = tuple(int(verdict[name]) / 1e6 for name in ("recording_ns", "recording_low_ns", "recording_high_ns"))
    ab = report["recording_costs"][0].get("ab")
    if ab:
        told["ab"] = tuple(int(ab[name]) / 1e6 for name in ("added_ns", "added_low_ns", "added_high_ns"))
    return told


def analyze(options, recording):
    done = subprocess.run([options.analyze, recording, "--format", "json"], capture_output=True, text=True, timeout=60, check=True)
    return json.loads(done.stdout)


def shown(figure):
    return f"{figure[0]:+.3f} ({figure[1]:+.3f} to {figure[2]:+.3f})"


def check(checks, found, told):
    full, stopped = found["step_ms"]["full"], found["step_ms"]["stopped"]
    for name, report in told.items():
        if "verdict" in report:
            figure = report["verdict"]
            checks.add(f"{name}: the report agrees with processes", overlap(figure, full), f"{shown(figure)} told, {shown(full)} of processes, ms")
        if "ab" in report:  # both of its halves have what stays while nothing is recorded
            expected = (full[0] - stopped[0], full[1] - stopped[2], full[2] - stopped[1])
            checks.add(f"{name}: TRACEINJECT_AB agrees with processes", overlap(report["ab"], expected),
                       f"{shown(report['ab'])} by turns, {shown(expected)} of processes that record over those that stopped, ms")


def by_pace(turns, figure):
    """(what plain takes, what full adds to it), of the faster and of the slower half of the rounds."""
    rounds = sorted((statistics.fmean(rows[at][figure] for rows in turns["plain"].values()),
                     statistics.fmean(rows[at][figure] for rows in turns["full"].values())) for at in range(len(turns["plain"][0])))
    halves = rounds[:len(rounds) // 2], rounds[len(rounds) // 2:]
    return [(statistics.fmean(plain for plain, _ in half), statistics.fmean(full - plain for plain, full in half)) for half in halves]


def table(turns, found):
    lines = ["| | " + " | ".join(FIGURES) + " |", "|---" * (len(FIGURES) + 1) + "|"]
    plain = [f"{statistics.median(one[figure] for rows in turns['plain'].values() for one in rows):.3f}" for figure in FIGURES]
    lines.append("| plain | " + " | ".join(plain) + " |")
    for arm in turns:
        if arm != "plain":
            lines.append(f"| {arm} | " + " | ".join(shown(found[figure][arm]) for figure in FIGURES) + " |")
    if len(turns["plain"][0]) > 1:
        for name, half in zip(("faster", "slower"), zip(*(by_pace(turns, figure) for figure in FIGURES))):
            lines.append(f"| full in the {name} half of the rounds | " + " | ".join(f"{added:+.3f} on {plain:.3f}" for plain, added in half) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "analyze", "out"):
        parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--program", choices=PROGRAMS, default=PROGRAMS[0], help="that makes the steps (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=8, help="of plain, full and stopped; of the other arms half as many (default: 8)")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--steps", type=int, default=40, help="of a process in a round (default: 40)")
    parser.add_argument("--seconds", type=float, default=200, help="begin no round after so long (default: 200)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("*.db*"):
        old.unlink()
    began = time.monotonic()
    settings = {(arm, number): of for arm, of in ARMS.items()
                for number in range(options.processes if arm in ("plain", "full", "stopped") else options.processes // 2)}
    with Processes(settings, options) as processes:
        print(f"{len(processes)} processes ready after {time.monotonic() - began:.0f} s", flush=True)
        turns = take_turns(processes, options, began + options.seconds)
    (options.out / "turns.json").write_text(json.dumps(turns))
    found = compare(turns)
    print(f"{len(turns['plain'][0])} rounds of {options.steps} steps; differences to plain with 95 % intervals:\n")
    print(table(turns, found) + "\n", flush=True)
    with Processes({(name, number): of for name, of in ALONE.items() for number in range(2)}, options) as alone:
        for process in alone.values():
            process.turn(ALONE_STEPS)
    log = options.out / "checks.jsonl"
    log.write_text("")
    told = {process.recording.stem: told_ms(analyze(options, process.recording)) for process in alone.values()}
    check(Checks(log, "recording_cost"), found, told)
    return summary(log, options.out / "results.json")


if __name__ == "__main__":
    sys.exit(main())
