# SPDX-License-Identifier: Apache-2.0
"""What was played on the fake GPU, and what `analyze` says of it: kinds of steps, and what a setting may change."""

import json
import subprocess

import harness

ANALYZE = harness.AnalyzeTestCase.analyze
STEPS = 30
KERNELS = 20
# 10 ms a step of kernels, one after the other: their times are the device's own, whatever the machine does beside it.
PLAIN = ["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", str(KERNELS), "--kernel-us", "500"]
class Findings(harness.AnalyzeTestCase):
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
        # On a busy machine the steps after evaluations are irregular, and judged, as they recur.
        self.assertEqual(int(steps["judged"]) + sum(left_out.values()), int(steps["count"]))
        kinds = [step["kind"] for step in steps["steps"]]
        self.assertEqual([i for i, kind in enumerate(kinds) if kind == "evaluation"], list(range(5, STEPS, 6)))
        # Every kernel has the length that was played, so a mean step computes as long as a plain one.
        kernels = sorted(truth.kernels(), key=lambda kernel: kernel.start)
        plain_ns = sum(kernel.end - kernel.start for kernel in kernels[:KERNELS + 1])
        self.assertAlmostEqual(int(steps["regular_sum"]["compute_ns"]) / int(steps["regular"]), plain_ns, delta=0.01 * plain_ns)
        parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        for split in (steps["regular_sum"], *steps["steps"]):
            self.assertEqual(sum(int(split.get(part, 0)) for part in parts), int(split["length_ns"]))

    def test_many_small_kernels_are_told(self):
        small = ["--steps", "10", "--nvtx", "--streams", "1", "--kernels", "2000", "--kernel-us", "2"]
        report, truth = self.report(*small)
        finding = [one for one in report["run"]["kernel_findings"] if one["name"] == "small_kernels"]
        self.assertEqual(len(finding), 1)
        self.assertEqual(finding[0]["share"], 1, "all kernels are small")
        self.assertIn("2,000 launches per step", finding[0]["text"])
        kernels = truth.kernels()
        self.assertEqual(int(finding[0]["kernels"]) % 2000, 0)
        self.assertLess(int(finding[0]["total_ns"]), sum(kernel.end - kernel.start for kernel in kernels) + 1)
        queue = report["steps"][0]["queue"]
        self.assertEqual(int(queue["operations"]), int(finding[0]["kernels"]))
        report, _ = self.report(*PLAIN, name="large.db")
        self.assertEqual(report["run"].get("kernel_findings", []), [])

    def test_how_far_the_host_is_ahead(self):
        """All of a step is launched at once and waits for the kernels before it, or each kernel is waited for."""
        ahead = self.report(*PLAIN, "--sync", "none", name="ahead.db")[0]["steps"][0]["queue"]
        behind = self.report(*PLAIN, "--sync-every", "1", name="behind.db")[0]["steps"][0]["queue"]
        self.assertGreater(int(ahead["slack_median_ns"]), 2_000_000, "four kernels of 500 us")
        self.assertGreater(int(ahead["depth_median"]), 4)
        self.assertLessEqual(int(behind.get("depth_median", 0)), 1, "the copy that waits for its kernel")
        self.assertLess(int(behind["slack_median_ns"]), int(ahead["slack_median_ns"]))

    def test_pageable_copies_are_told_with_their_rate(self):
        """The link is looked at once a second, so the run lasts for two."""
        report, truth = self.report(*PLAIN, "--pageable-mb", "40", "--steps", "150")
        device = report["devices"][0]
        findings = device["link_findings"]
        self.assertEqual([finding["name"] for finding in findings], ["pageable_uploads"])
        copies = truth.memcpys()
        rate = sum(copy.bytes for copy in copies) / sum(copy.end - copy.start for copy in copies)
        self.assertEqual(device["host_link"]["name"], "PCIe 5.0 x16")
        self.assertIn(f"{rate:.1f} GB/s, {100 * rate / device['host_link']['gb_per_s']:.1f} % of PCIe 5.0 x16", findings[0]["text"])
        self.assertIn("pin_memory=True", findings[0]["setting"])
        report, _ = self.report(*PLAIN, name="plain.db")
        self.assertEqual(report["devices"][0].get("link_findings", []), [])

    def test_rate_of_large_operations_between_ranks(self):
        report, _ = self.report("--steps", "6", "--nvtx", "--kernels", "5", "--nccl", "new", env={"WORLD_SIZE": "8", "RANK": "0"})
        nccl = report["devices"][0]["nccl"]
        factors = {"AllReduce": 2 * 7 / 8, "AllGather": 7 / 8, "ReduceScatter": 7 / 8}
        large = [row for row in nccl["rows"] if row["function"] in factors and int(row["bucket_low_bytes"]) >= 8 << 20]
        bus_bytes = sum(int(row["bytes"]) * factors[row["function"]] for row in large)
        self.assertAlmostEqual(nccl["link"]["busbw_gb_per_s"], bus_bytes / sum(int(row["kernel_ns"]) for row in large), places=3)
        self.assertTrue(nccl["link"]["waiting_included"], "the other ranks were not recorded")


if __name__ == "__main__":
    harness.main()
