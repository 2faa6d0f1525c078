# SPDX-License-Identifier: Apache-2.0
"""`analyze try`: what levers bring is measured, with an interval that holds the truth, and nothing is left behind.

TRACEINJECT_SEEDS=100 plays that many seeds, and interrupts as often (default: 3).
"""

import json
import os
import pathlib
import random
import signal
import sqlite3
import sys
import time
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
PROGRAM = [sys.executable, str(harness.ROOT / "tests" / "end_to_end" / "try_program.py")]
SEEDS = int(os.environ.get("TRACEINJECT_SEEDS", "3"))
SHORT = ("--steps", "12", "--warm-up", "3", "--repeat", "2")
# The lever that takes away a cost of the program.
LEVERS = {"omp_threads": "omp_threads=2", "variable": "env.NCCL_P2P_DISABLE=", "num_workers": "num_workers=2",
          "gc_threshold": "gc_threshold=0", "checkpoint": "checkpoints=none"}


@harness.without_sanitizer("what is measured is time")
class Try(harness.TestCase):
    def start_try(self, *options, program=(), env=()):
        words = [*PROGRAM, *map(str, program)]
        return self.start(command=[ANALYZE, "try", *map(str, options), "--", *words], preload=False,
                          env={**harness.STAND_IN, "NCCL_P2P_DISABLE": "1", **dict(env)})

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

    def test_each_lever_takes_its_cost_away(self):
        costs = {"omp_threads": 4, "variable": 5, "num_workers": 3, "gc_threshold": 6}
        result, said = self.tried(*SHORT, "--fixes", ",".join(LEVERS[name] for name in costs) + ",set_to_none=1",
                                  program=[f"{name}={ms}" for name, ms in costs.items()])
        self.assertEqual(int(result["as_is"]["runs"]), 2)
        for (name, ms), fix in zip(costs.items(), result["fixes"]):
            self.assertEqual((fix["tried"], fix["outcome"]), (LEVERS[name], "measured"))
            self.assertGreater(int(fix["saved_ns"]) / 1e6, ms / 2, name)  # beside other tests, steps take as long as they take
            self.assertGreater(int(fix["saved_low_ns"]), 0)
        self.assertIn("try_program.py:", result["fixes"][2]["applied"])
        self.assertEqual(result["fixes"][4]["outcome"], "without effect")
        self.assertNotIn("saved_ns", result["fixes"][4])
        self.assertRegex(said, r"5 levers to try, 11 more runs, about ")
        self.assertEqual(self.files(), ["tries"])
        self.assertEqual([path.name for path in (self.folder / "tries").iterdir()], ["tries.db"])

    def test_what_a_checkpoint_saves_goes_elsewhere(self):
        result, _ = self.tried(*SHORT, "--fixes", "checkpoints=none", program=["checkpoint=4"])
        self.assertGreater(int(result["fixes"][0]["saved_ns"]), 2_000_000)
        self.assertEqual(self.files(), ["tries"])

    def test_two_together_and_the_text(self):
        ended = self.finish(self.start_try(*SHORT, "--fixes", "omp_threads=2+gc_threshold=0", "--html", "try.html",
                                           program=["omp_threads=4", "gc_threshold=4"]))
        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"omp_threads=2 \+ gc_threshold=0 saves .* ms \(.* to .*\) of a step of .* ms")
        self.assertIn("to keep it: export OMP_NUM_THREADS=2", ended.stdout)
        self.assertRegex(ended.stdout, r"OMP_NUM_THREADS=2, was not set; try_program.py:\d+ gc\(threshold=0\), was 700")
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
            name = chance.choice(["omp_threads", "variable", "num_workers", "gc_threshold"])
            ms = round(chance.uniform(0.3, 4), 2)
            result, _ = self.tried("--steps", "20", "--warm-up", "3", "--repeat", "3", "--fixes", LEVERS[name],
                                   program=["--seed", seed, f"{name}={ms}"])
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
