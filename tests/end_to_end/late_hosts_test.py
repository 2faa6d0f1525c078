# SPDX-License-Identifier: Apache-2.0
"""Savings on hosts of other paces, on the fake GPU: the truth is the same program, at the same pace, without the cause.

late_hosts_test.py --table   prints all causes at all paces
"""

import json
import subprocess
import sys

import harness

STEPS = 16
# 20 kernels of 300 us on average, and 150 us of the host for each: from twice the pace on the host is late.
PROGRAM = ["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "300", "--host-us", "150"]
# The flags that plant a cause, and its label.
CAUSES = {"loader": (["--data-wait-us", "6000"], "dataloader"),
          "fetched values": (["--sync-every", "2", "--fetch-us", "300"], "sync_bound"),
          "pageable copies": (["--pageable-mb", "24"], "h2d_copy")}
PACES = (50, 100, 150, 200, 300)  # percent
TOLERANCE = 0.1  # of the step


class LateHosts(harness.AnalyzeTestCase):
    def step_ns(self, name, flags):
        """The recording, and the mean step from the end of the first to that of the last."""
        ended = self.play(*PROGRAM, *flags, cuda="cuda13", env={"TRACEINJECT_OUTPUT": name})
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        ends = [line["end_after"] for line in self.truth(ended).of("nvtx") if line["text"].startswith("step ") and line["kind"] == 1]
        return self.folder / name, (ends[-1] - ends[0]) / (STEPS - 1)

    def cell(self, cause, pace):
        """Step with the cause, its true and its predicted saving, in nanoseconds."""
        flags, label = CAUSES[cause]
        path, now = self.step_ns("with.db", [*flags, "--pace", str(pace)])
        _, then = self.step_ns("without.db", ["--pace", str(pace)])
        ended = subprocess.run([self.analyze, path, "--format", "json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        savings = json.loads(ended.stdout)["verdict"]["savings"]
        return now, now - then, sum(int(saving["saved_ns"]) for saving in savings if saving["label"] == label)

    def check(self, cause, pace):
        """What else runs on the machine takes time of either run: the best of three tells."""
        errors = []
        for _ in range(3):
            now, saved, predicted = self.cell(cause, pace)
            errors.append((predicted - saved) / now)
            if abs(errors[-1]) <= TOLERANCE:
                return
        self.fail(f"{cause} at {pace} % of the pace: off by {', '.join(f'{error:+.1%}' for error in errors)} of the step")

    def test_a_loader_that_is_gone(self):
        self.check("loader", 200)

    def test_the_work_of_fetching_goes_with_it(self):
        self.check("fetched values", 300)

    def test_pageable_copies_of_a_late_host(self):
        self.check("pageable copies", 200)


def print_table():
    test = LateHosts("check")
    print("| cause | pace, % | step, ms | true saving, ms | predicted, ms | error, % of the step |\n|---|---|---|---|---|---|")
    within = cells = 0
    for cause in CAUSES:
        for pace in PACES:
            test.setUp()
            now, saved, predicted = test.cell(cause, pace)
            test.doCleanups()
            error = (predicted - saved) / now
            within, cells = within + (abs(error) <= TOLERANCE), cells + 1
            print(f"| {cause} | {pace} | {now / 1e6:.2f} | {saved / 1e6:.2f} | {predicted / 1e6:.2f} | {100 * error:+.1f} |", flush=True)
    print(f"{within} of {cells} within {TOLERANCE:.0%} of the step")


if __name__ == "__main__":
    if "--table" in sys.argv:
        print_table()
    else:
        harness.main()
