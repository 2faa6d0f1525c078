# SPDX-License-Identifier: Apache-2.0
"""`analyze try`: what levers bring is measured, with an interval that holds the truth, and nothing is left behind.

TRACEINJECT_SEEDS=100 plays that many seeds, and interrupts as often (default: 3).
"""

import json
import os
import pathlib
import random
import re
import signal
import sqlite3
import sys
import time
import unittest

import harness
from try_costs import COSTS

ANALYZE = harness.BUILD / "bin" / "analyze"
PROGRAM = [sys.executable, str(harness.ROOT / "tests" / "end_to_end" / "try_program.py")]
SEEDS = int(os.environ.get("TRACEINJECT_SEEDS", "3"))
SHORT = ("--steps", "12", "--warm-up", "3", "--repeat", "2")
STAND_IN = {**harness.STAND_IN, "PYTHONPATH": f"{harness.ROOT}/tests/end_to_end/levers_torch:{harness.STAND_IN['PYTHONPATH']}"}
KNOWN = re.findall(r'^    {"(\w+)", TryBy', (harness.ROOT / "schemas" / "try_levers.h").read_text(), re.MULTILINE)
OF_TRY_ITSELF = {"save_folder", "losses", "diff"}


def pulled(lever):
    return f"{lever}={COSTS[lever][0]}"


@harness.without_sanitizer("what is measured is time")
class Try(harness.TestCase):
    def start_try(self, *options, program=(), env=()):
        words = [*PROGRAM, *map(str, program)]
        return self.start(command=[ANALYZE, "try", *map(str, options), "--", *words], preload=False,
                          env={**STAND_IN, "NCCL_P2P_DISABLE": "1", **dict(env)})

    def tried(self, *options, program=(), code=0):
        """(the result, what was said)."""
        ended = self.finish(self.start_try("--format", "json", *options, program=program))
        self.assertEqual(ended.code, code, ended.stderr)
        return json.loads(ended.stdout), ended.stderr

    def left_processes(self):
        """Of all that was started in the folder."""
        found = []
        for process in pathlib.Path("/proc").iterdir():
            try:
                if process.name.isdigit() and (process / "cwd").resolve() == self.folder.resolve():
                    found.append((process.name, (process / "cmdline").read_bytes()))
            except OSError:
                continue
        return found

    def test_each_lever_has_a_program(self):
        self.assertEqual({lever for lever in COSTS if not lever.startswith("env.")}, set(KNOWN) - OF_TRY_ITSELF)

    def test_each_lever_takes_its_own_cost_away(self):
        levers, together = list(COSTS), 7
        for first in range(0, len(levers), together):
            some = levers[first:first + together]
            result, _ = self.tried(*SHORT, "--keep", "--fixes", ",".join(map(pulled, some)),
                                   program=["--base", 1, *(f"{lever}=2" for lever in some)])
            for number, (lever, fix) in enumerate(zip(some, result["fixes"]), 1):
                self.assertEqual((fix["tried"], fix["outcome"]), (pulled(lever), "measured"), fix)
                printed = next((self.folder / "tries").glob(f"runs.*/fix_{number}.1.log")).read_text().splitlines()
                there = [line for line in printed if line.startswith("costs:")][-1].split()[1:]
                self.assertEqual(there, [other for other in some if other != lever], lever)
                saved, low, high = (int(fix[name]) / 1e6 for name in ("saved_ns", "saved_low_ns", "saved_high_ns"))
                if SEEDS >= 20:  # beside other tests, steps take as long as they take
                    self.assertTrue(1 <= saved <= 3 or low <= 2 <= high, (lever, saved, low, high))
            harness.shutil.rmtree(self.folder / "tries")

    def test_what_changes_nothing_saves_nothing(self):
        result, said = self.tried(*SHORT, "--fixes", pulled("num_workers") + ",set_to_none=1", program=["num_workers=4"])
        self.assertIn("try_costs.py:", result["fixes"][0]["applied"])
        self.assertRegex(result["fixes"][0]["diff"], r"(?m)^\+ .*data.DataLoader\(range\(4\), num_workers=2\), data.DataLoader\(range\(4\), num_workers=2\)$")
        self.assertEqual((result["fixes"][1]["outcome"], int(result["as_is"]["runs"])), ("without effect", 2))
        self.assertNotIn("saved_ns", result["fixes"][1])
        self.assertRegex(said, r"2 levers to try, 5 more runs, about ")
        self.assertEqual(self.files(), ["tries"])
        self.assertEqual([path.name for path in (self.folder / "tries").iterdir()], ["tries.db"])

    def test_what_a_checkpoint_saves_goes_elsewhere(self):
        result, _ = self.tried(*SHORT, "--fixes", "checkpoints=none", program=["checkpoints=20"])
        self.assertGreater(int(result["fixes"][0]["saved_ns"]), 10_000_000)
        self.assertEqual(self.files(), ["tries"])

    def test_two_together_and_the_text(self):
        ended = self.finish(self.start_try(*SHORT, "--fixes", "omp_threads=2+gc_threshold=0", "--html", "try.html",
                                           program=["omp_threads=4", "gc_threshold=4"]))
        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"omp_threads=2 \+ gc_threshold=0 saves .* ms \(.* to .*\) of a step of .* ms")
        self.assertIn("to keep it: export OMP_NUM_THREADS=2", ended.stdout)
        self.assertRegex(ended.stdout, r"OMP_NUM_THREADS=2, was not set; try_\w+.py:\d+ gc\(threshold=0\), was 700")
        self.assertIn("omp_threads=2 + gc_threshold=0", (self.folder / "try.html").read_text())

    def test_recordings_say_that_the_program_was_changed(self):
        self.tried(*SHORT, "--fixes", "omp_threads=2", "--keep", program=["omp_threads=2"])
        kept = sorted((self.folder / "tries").glob("runs.*/fix_1.*.db"))
        self.assertEqual(len(kept), 2)
        report = self.finish(self.start(command=[ANALYZE, kept[0]], preload=False))
        self.assertIn("this run was changed by TRACEINJECT_TRY: omp_threads=2 (OMP_NUM_THREADS=2", report.stdout)
        as_is = next((self.folder / "tries").glob("runs.*/as_is.1.db"))
        report = self.finish(self.start(command=[ANALYZE, as_is], preload=False))
        self.assertNotIn("was changed", report.stdout)

    def test_a_lever_that_fails_hangs_or_lacks_memory_is_told_and_the_rest_goes_on(self):
        result, _ = self.tried(*SHORT, "--timeout", "4", "--fixes", "omp_threads=2,module_loading=EAGER,cuda_connections=1,set_to_none=1",
                               program=["omp_threads=3", "--misbehave", "module_loading:fail", "cuda_connections:memory",
                                        "set_to_none:hang"])
        outcomes = [fix["outcome"] for fix in result["fixes"]]
        self.assertEqual(outcomes, ["measured", "failed", "out of memory", "hung"])
        self.assertIn("it went wrong", result["fixes"][1]["reason"])
        self.assertEqual(self.left_processes(), [])

    def test_a_program_that_cannot_be_measured(self):
        ended = self.finish(self.start_try(*SHORT, program=["--steps", "2"]))
        self.assertNotEqual(ended.code, 0)
        self.assertIn("could not be measured", ended.stderr)
        ended = self.finish(self.start_try("--fixes", "faster=1", *SHORT, program=[]))
        self.assertEqual(ended.code, 2)
        self.assertIn("--levers", ended.stderr)
        self.assertEqual(self.files(), [])

    def test_score_holds_predictions_against_what_was_tried(self):
        self.tried(*SHORT, "--fixes", "omp_threads=2", program=["omp_threads=3"])
        scored = self.finish(self.start(command=[ANALYZE, "score"], preload=False))
        self.assertEqual(scored.code, 3)
        self.assertIn("no tries with a prediction", scored.stderr)
        with sqlite3.connect(self.folder / "tries" / "tries.db") as tries:
            tries.execute("UPDATE tried SET predicted_ns = measured_ns, predicted_low_ns = 0, predicted_high_ns = 9000000")
        scored = self.finish(self.start(command=[ANALYZE, "score"], preload=False))
        self.assertIn("1 of 1 measured savings within the predicted 95 % interval", " ".join(scored.stdout.split()))

    def test_intervals_hold_the_truth(self):
        held = []
        for seed in range(SEEDS):
            chance = random.Random(seed)
            lever = chance.choice(list(COSTS))
            ms = round(chance.uniform(0.3, 4), 2)
            result, _ = self.tried("--steps", "20", "--warm-up", "3", "--repeat", "3", "--fixes", pulled(lever),
                                   program=["--seed", seed, f"{lever}={ms}"])
            fix = result["fixes"][0]
            held.append(int(fix["saved_low_ns"]) <= ms * 1e6 <= int(fix["saved_high_ns"]))
        print(f"{sum(held)} of {len(held)} intervals hold the truth")
        if SEEDS >= 20:  # fewer tell nothing of 19 in 20, and other tests beside it change the truth
            self.assertGreaterEqual(sum(held), 0.9 * len(held))

    def test_interrupted_at_any_moment_nothing_is_left(self):
        for seed in range(SEEDS):
            chance = random.Random(seed)
            process = self.start_try(*SHORT, "--fixes", "omp_threads=2", program=["--child", "omp_threads=2"])
            time.sleep(chance.uniform(0.02, 2))
            process.send_signal(chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
            ended = self.finish(process)
            self.assertIn(ended.code, (0, 129, 130, 143), ended.stderr)
            self.assertEqual(self.left_processes(), [], f"seed {seed}")
            if ended.code != 0:
                self.assertEqual(self.files(), [], f"seed {seed}: {ended.stderr}")
            else:
                self.assertEqual(self.files(), ["tries"])
                harness.shutil.rmtree(self.folder / "tries")


if __name__ == "__main__":
    unittest.main()
