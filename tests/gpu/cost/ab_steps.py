#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds TRACEINJECT_AB against processes that are recorded and not recorded by turns (see ab_steps.sh).

Processes of one program differ by several per cent in a launch-bound step, so that their difference is judged with that much room;
what matters is that the estimate of one process has its sign and its size.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks, summary  # noqa: E402

PRESETS = ("launch-bound", "compute")
BLOCK, STEPS, ROUNDS, LIMIT_S = 20, 600, 2, 120
ROOM = 0.05  # of the untraced step
MOST_WIDTH = 0.05  # of the interval, likewise: wider ones tell nothing


def run(arguments, preset, environment):
    """Median step in ms as the program's own clock has it."""
    done = subprocess.run([sys.executable, arguments.workload, "--preset", preset, "--steps", str(STEPS), "--block", str(BLOCK)],
                          env=os.environ | environment, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    return json.loads(done.stdout.splitlines()[-1])["median_step_ms"]


def check(arguments, checks, preset):
    out = arguments.out
    recorded, untraced = [], []
    for number in range(ROUNDS):
        traced = {"LD_PRELOAD": str(arguments.library), "TRACEINJECT_OUTPUT": str(out / f"{preset}.all{number}.db")}
        untraced.append(run(arguments, preset, {}))
        recorded.append(run(arguments, preset, traced))
    recording = out / f"{preset}.ab.db"
    run(arguments, preset, {"LD_PRELOAD": str(arguments.library), "TRACEINJECT_OUTPUT": str(recording), "TRACEINJECT_AB": f"steps:{BLOCK}"})
    text = subprocess.run([arguments.analyze, recording], capture_output=True, text=True, timeout=LIMIT_S).stdout
    (out / f"{preset}.txt").write_text(text)
    report = json.loads(subprocess.run([arguments.analyze, recording, "--format", "json"], capture_output=True, text=True, timeout=LIMIT_S).stdout)
    (cost,) = report["recording_costs"]
    ab = cost.get("ab")
    checks.add(f"{preset}: there is an estimate", ab is not None, cost.get("ab_reason", ""))
    if ab is None:
        return
    base = statistics.median(untraced)
    apart = statistics.median(recorded) - base
    added, low, high = (int(ab[name]) / 1e6 for name in ("added_ns", "added_low_ns", "added_high_ns"))
    told = f"by turns {added:.3f} ms ({low:.3f} to {high:.3f}); processes apart {apart:.3f} ms of {base:.3f} ms"
    checks.add(f"{preset}: agrees with processes apart", low - ROOM * base <= apart <= high + ROOM * base, told)
    checks.add(f"{preset}: the interval tells something", high - low <= MOST_WIDTH * base, told)
    checks.note(f"{preset}: own code", f"{cost.get('own_ns')} ns in {cost['recorded_ns']} ns: {cost['own']}")
    checks.note(f"{preset}: conclusion", ab["conclusion"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("library", "analyze", "workload", "out"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    log = arguments.out / "checks.jsonl"
    for old in (log, *arguments.out.glob("*.db*")):
        old.unlink(missing_ok=True)
    checks = Checks(log, "ab_steps")
    for preset in PRESETS:
        check(arguments, checks, preset)
    return summary(log, arguments.out / "results.json")


if __name__ == "__main__":
    sys.exit(main())
