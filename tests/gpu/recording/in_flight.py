#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks windows of a program whose GPU is behind its host (see in_flight.sh).

  in_flight.py check --library FILE --analyze FILE --out OUT    records the program in windows and as a whole, and compares
  in_flight.py run PRESET    the program: steps of training that nothing waits for
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
from run_db import OPERATIONS, RunDb  # noqa: E402

WORKLOADS = pathlib.Path(__file__).resolve().parents[3] / "samples" / "workloads"
STEPS, PERIOD, RECORDED = 200, 20, 4
RUN_LIMIT_S = 120
PLANNED = {"TRACEINJECT_WINDOW": f"every:{PERIOD}:{RECORDED}"}
MODES = {"whole": {}, "windows": PLANNED, "detached": {**PLANNED, "TRACEINJECT_DETACH": "1"}}
BUSY_APART = 3  # per cent of the time


def run(preset):
    sys.path.insert(0, str(WORKLOADS))
    import transformer
    sys.argv = ["transformer.py", "--preset", preset, "--steps", str(STEPS), "--workers", "0"]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(STEPS):
        trainer.step()
    trainer.synchronise()


class Windows:
    """Of a recording: what was launched in its windows, and when it ran."""

    def __init__(self, path):
        self.recording = RunDb(path)
        self.gaps = self.rows("SELECT start, ifnull(start + dur, 1 << 62) FROM capture_gap WHERE reason = 'window' ORDER BY start")
        launches = self.recording.launch_starts()
        operations = self.rows(f"SELECT start, correlation FROM ({OPERATIONS}) ORDER BY start")
        ran = {correlation for _, correlation in operations}
        # Near the edges, calls may be told already, or still, when operations are not.
        inside = [correlation for correlation, start in launches.items() if not self.in_gap(start)]
        self.launches, self.operations = len(inside), len(operations)
        self.without_operation = sum(correlation not in ran for correlation in inside)
        self.without_launch = sum(correlation not in launches for _, correlation in operations)
        self.in_gaps = sum(self.in_gap(start) for start, _ in operations)
        starts = [start for start, _ in operations]
        self.behind_ns = [min((start for start in starts if start >= end), default=end) - end for _, end in self.gaps if end < 1 << 62]

    def in_gap(self, time):
        return any(begin <= time < end for begin, end in self.gaps)

    def rows(self, sql):
        return self.recording.db.execute(sql).fetchall()


class Check:
    def __init__(self, options):
        self.options = options
        log = options.out / "checks.jsonl"
        log.write_text("")
        self.judge = checks.Checks(log, "in flight")

    def play(self, mode):
        database = self.options.out / f"{mode}.db"
        environment = os.environ | {"LD_PRELOAD": str(self.options.library), "TRACEINJECT_OUTPUT": str(database), "TRACEINJECT_MEMSETS": "all", **MODES[mode]}
        ended = subprocess.run(["timeout", "-s", "KILL", str(RUN_LIMIT_S), sys.executable, __file__, "run", self.options.preset], env=environment,
                               capture_output=True, text=True)
        runs = ended.returncode == 0 and database.is_file()
        self.judge.add(f"{mode}: runs, and leaves a recording", runs, f"exit code {ended.returncode}: {ended.stderr.strip()[-200:]}")
        return database if runs else None

    def report(self, database, *arguments):
        done = subprocess.run([self.options.analyze, database, "--format", "json", *arguments], capture_output=True, text=True, timeout=RUN_LIMIT_S)
        database.with_suffix(".json").write_text(done.stdout)
        return json.loads(done.stdout)

    def check_windows(self, mode, database, whole):
        windows, judge = Windows(database), self.judge
        judge.add(f"{mode}: windows", len(windows.behind_ns) >= STEPS // PERIOD - 1, f"{len(windows.behind_ns)}")
        judge.note(f"{mode}: the GPU is behind", "ms from a window's begin to its first record: " + " ".join(f"{ns / 1e6:.1f}" for ns in windows.behind_ns))
        judge.note(f"{mode}: ran after its window", f"{windows.in_gaps} of {windows.operations}")
        lost = f"{windows.without_operation} of {windows.launches} launches have no operation"
        unknown = f"{windows.without_launch} of {windows.operations} have no launch"
        if "TRACEINJECT_DETACH" in MODES[mode]:  # CUPTI does not tell launches of the runtime then
            judge.note(f"{mode}: launches", f"{lost}, {unknown}")
        else:
            judge.add(f"{mode}: what was launched in a window is recorded", windows.without_operation == 0 and windows.launches > 0, lost)
            judge.add(f"{mode}: what is recorded was launched in a window", windows.without_launch == 0, unknown)
        reports = self.report(database), self.report(whole, "--steps", f"{PERIOD}..{STEPS - 1}")  # without its first ones, as the windows
        here, there = (report["devices"][0] for report in reports)
        verdicts = [report["verdict"]["label"] for report in reports]
        judge.add(f"{mode}: the verdict is that of the whole recording", verdicts[0] == verdicts[1], f"{verdicts[0]}, {verdicts[1]} there")
        busy, expected = (100 * device["partition"]["busy_share"] for device in (here, there))
        judge.add(f"{mode}: the GPU is as busy as in a whole recording", abs(busy - expected) <= BUSY_APART, f"{busy:.1f} %, {expected:.1f} % there")
        longest, usual = (max((int(gap["duration_ns"]) / 1e6 for gap in device["longest_gaps"]), default=0) for device in (here, there))
        judge.add(f"{mode}: no gap at the edges of windows", longest <= usual + 1, f"the longest {longest:.3f} ms, {usual:.3f} in the whole recording")

    def all(self):
        recordings = {mode: self.play(mode) for mode in MODES}
        whole = recordings.pop("whole")
        for mode, database in recordings.items():
            if database and whole:
                self.check_windows(mode, database, whole)
        return checks.summary(self.judge.path, self.options.out / "results.json")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "run":
        return run(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check"])
    for name in ("library", "analyze", "out"):
        parser.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="compute")
    return Check(parser.parse_args()).all()


if __name__ == "__main__":
    sys.exit(main())
