# SPDX-License-Identifier: Apache-2.0
"""What recording costs: measured by the recorder itself, and by steps that it records and does not record by turns (TRACEINJECT_AB)."""

import json
import subprocess
import sys
import unittest

import harness
import python_test

LAUNCH_NS = 4_000_000  # what a recorded launch costs more; each step has one
STEPS, BLOCK = 160, 8


class RecordingCost(harness.TestCase):
    def analyze(self, *arguments):
        done = subprocess.run([harness.BUILD / "bin" / "analyze", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def cost(self):
        (cost,) = json.loads(self.analyze("run.db", "--format", "json"))["recording_costs"]
        return cost

    def test_the_recorder_measures_itself(self):
        ended = self.play("--steps", "100", "--step-us", "5000", "--nvtx", "--nccl", "new", "--events", "--threads", "2",
                          env={"TRACEINJECT_FLUSH_MS": "50"})  # the sampler begins with the file
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        recording = self.open()
        for source in ("sync", "nvtx", "nccl_plugin"):
            self.assertGreater(recording.count(source, "own_ns"), 0, source)
        self.assertGreater(recording.count("own", "samples"), 10)
        self.assertGreater(recording.count("writer", "cpu_us"), 0)
        self.assertGreater(recording.count("sampler", "cpu_us"), 0)
        cost = self.cost()
        self.assertEqual(int(cost["own_ns"]), sum(recording.count(source, "own_ns") for source in ("sync", "nvtx", "nccl_plugin")))
        self.assertEqual(int(cost["writer_cpu_ns"]), 1000 * recording.count("writer", "cpu_us"))
        self.assertIn("Recording overhead", self.analyze("run.db", "--full"))
        self.assertNotIn("ab", cost)

    def test_few_events_are_no_estimate(self):
        self.play("--steps", "2", env={"TRACEINJECT_SYNC": "0"})
        self.assertNotIn("own_ns", self.cost())

    def train(self, env):
        ended = self.finish(self.start(
            command=[sys.executable, str(python_test.HERE / "train_python.py"), "--scene", "windows", "--items", str(STEPS), "--item-us", "8000"],
            env={**harness.STAND_IN, **env}))
        self.assertEqual((ended.code, ended.stderr), (0, ""))

    def test_steps_by_turns(self):
        self.train({"TRACEINJECT_AB": f"steps:{BLOCK}", "FAKE_CUPTI_LAUNCH_NS": str(LAUNCH_NS)})
        recording = self.open()
        self.assertEqual(recording.rows("SELECT count(*) FROM step_mark"), [(STEPS,)], "steps are told at any time")
        gaps = recording.rows("SELECT start, dur FROM capture_gap WHERE reason = 'window'")
        self.assertEqual(len(gaps), STEPS // (2 * BLOCK))
        recorded = recording.rows("SELECT count(*) FROM memset")[0][0]
        self.assertGreater(recorded, STEPS // 3)
        self.assertLess(recorded, STEPS * 2 // 3)
        ab = self.cost()["ab"]
        self.assertGreaterEqual(int(ab["blocks"]), 5)
        self.assertGreater(int(ab["added_ns"]), 0, "a launch that is recorded takes longer")
        self.assertLess(int(ab["added_low_ns"]), int(ab["added_ns"]))
        self.assertGreater(int(ab["added_high_ns"]), int(ab["added_ns"]))
        self.assertGreater(int(ab["unrecorded_steps"]), STEPS // 4)
        self.assertIn("overhead per step", " ".join(self.analyze("run.db", "--full").split()))
        verdict = json.loads(self.analyze("run.db", "--format", "json"))["verdict"]
        self.assertTrue(verdict["recording_measured"])
        self.assertLessEqual(int(verdict["recording_low_ns"]), int(verdict["recording_ns"]))
        self.assertGreaterEqual(int(verdict["recording_high_ns"]), int(verdict["recording_ns"]))

    def test_without_steps_there_is_no_estimate(self):
        self.play("--steps", "20", env={"TRACEINJECT_AB": "steps"})
        self.assertIn("no optimizer steps", self.cost()["ab_reason"])


if __name__ == "__main__":
    harness.main()
