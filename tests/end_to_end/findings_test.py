# SPDX-License-Identifier: Apache-2.0
"""What was played on the fake GPU, and what `analyze` says of it: kinds of steps, and what a setting may change."""

import json
import subprocess
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
STEPS = 30
KERNELS = 20
# 10 ms a step of kernels, one after the other: their times are the device's own, whatever the machine does beside it.
PLAIN = ["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", str(KERNELS), "--kernel-us", "500"]


class Findings(harness.TestCase):
    def setUp(self):
        super().setUp()
        if not ANALYZE.exists():
            raise unittest.SkipTest(f"{ANALYZE} is not built")

    def report(self, *flags, name="run.db", env=()):
        ended = self.play(*flags, cuda="cuda13", env={"TRACEINJECT_OUTPUT": name, **dict(env)})
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        told = subprocess.run([ANALYZE, self.folder / name, "--format", "json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(told.returncode, 0, told.stderr)
        return json.loads(told.stdout), self.truth(ended)

    def test_evaluation_is_named_and_in_no_mean(self):
        report, truth = self.report(*PLAIN, "--evaluate-every", "6")
        steps = report["steps"][0]
        left_out = {left["kind"]: int(left["count"]) for left in steps["left_out"]}
        self.assertEqual(left_out.get("evaluation"), STEPS // 6, steps["left_out"])
        self.assertEqual(int(steps["regular"]) + sum(left_out.values()), int(steps["count"]))
        kinds = [step["kind"] for step in steps["steps"]]
        self.assertEqual([i for i, kind in enumerate(kinds) if kind == "evaluation"], list(range(5, STEPS, 6)))
        # Every kernel has the length that was played, so a mean step computes as long as a plain one.
        kernels = sorted(truth.kernels(), key=lambda kernel: kernel.start)
        plain_ns = sum(kernel.end - kernel.start for kernel in kernels[:KERNELS + 1])
        self.assertAlmostEqual(int(steps["regular_sum"]["compute_ns"]) / int(steps["regular"]), plain_ns, delta=0.01 * plain_ns)
        parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        for split in (steps["regular_sum"], *steps["steps"]):
            self.assertEqual(sum(int(split.get(part, 0)) for part in parts), int(split["length_ns"]))


if __name__ == "__main__":
    harness.main()
