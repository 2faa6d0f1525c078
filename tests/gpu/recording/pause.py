#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the flight recorder of a program that stands still for a while (see pause.sh).

  pause.py check --library FILE --out OUT    records the program twice, and counts what is left
  pause.py run    the program: matrix products, a pause, and products again; prints how many there were after it
"""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
from run_db import RunDb  # noqa: E402

BUSY_S, KEPT_S, PAUSE_S = 2, 3, 5
TURNS = 2
RUN_LIMIT_S = 60


def run():
    import torch
    matrix = torch.randn(512, 512, device="cuda")

    def products():
        count, end = 0, time.monotonic() + BUSY_S
        while time.monotonic() < end:
            torch.mm(matrix, matrix)
            torch.cuda.synchronize()
            time.sleep(0.002)
            count += 1
        return count

    products()
    time.sleep(PAUSE_S)
    print(products())


def check_recording(judge, name, path, products):
    """Slices of a recording are dropped for good, and tell by a gap from when on everything is there."""
    rows = RunDb(path).db.execute
    kept_from, = rows("SELECT max(start + dur) FROM capture_gap WHERE reason = 'keep_last'").fetchone()
    judge.add(f"{name}: what was before the pause was dropped", kept_from is not None, f"kept from {(kept_from or 0) / 1e9:.2f} s on")
    launches, = rows("SELECT count(DISTINCT correlation) FROM kernel WHERE start + dur > ?", (kept_from or 0,)).fetchone()
    # A product may take more kernels than one, and none of them may be missing.
    judge.add(f"{name}: what came after it is there", products > 0 and launches >= products and launches % products == 0,
              f"{launches} launches of {products} products")


def check(options):
    log = options.out / "checks.jsonl"
    log.write_text("")
    judge = checks.Checks(log, "pause")
    for turn in range(TURNS):
        database = options.out / f"{turn}.db"
        environment = os.environ | {"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": str(database),
                                    "TRACEINJECT_KEEP_LAST": f"{KEPT_S}s", "TRACEINJECT_MAX_SIZE": "64M"}
        ended = subprocess.run(["timeout", "-s", "KILL", str(RUN_LIMIT_S), sys.executable, __file__, "run"], env=environment,
                               capture_output=True, text=True)
        runs = ended.returncode == 0 and database.is_file()
        judge.add(f"{turn}: runs, and leaves a recording", runs, f"exit code {ended.returncode}: {ended.stderr.strip()[-200:]}")
        if runs:
            check_recording(judge, turn, database, int(ended.stdout))
    return checks.summary(log, options.out / "results.json")


def main():
    parser, commands, _ = checks.command_line(__doc__)
    commands.add_parser("run")
    options = parser.parse_args()
    return run() if options.command == "run" else check(options)


if __name__ == "__main__":
    sys.exit(main())
