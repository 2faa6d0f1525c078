#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Savings on hosts of other paces, on the fake GPU: the truth is the same program, at the same pace, without the cause.

    late_hosts.py build/release
    late_hosts.py build/release --paces 100,300 --rounds 3

Plays in real time: on a busy machine the truth itself is off, so the median of some rounds is told, and how far rounds differ. The same
matrix in simulated time, without that, is analyzer/verdict/late_hosts_test.cc. Exit code 1: fewer than nine tenths of the cells are right.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

STEPS = 16
# 20 kernels of 300 us on average, and 150 us of the host for each: from twice the pace on the host is late.
PROGRAM = ["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "300", "--host-us", "150"]
# The flags that plant a cause, and its label.
CAUSES = {"loader": (["--data-wait-us", "6000"], "dataloader"),
          "fetched values": (["--sync-every", "2", "--fetch-us", "300"], "sync_bound"),
          "pageable copies": (["--pageable-mb", "24"], "h2d_copy")}
TOLERANCE = 0.1  # of the step
LEAST_RIGHT = 0.9  # of the cells


class Player:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder

    def step_ns(self, recording, flags):
        """The mean step, from the end of the first to that of the last."""
        truth = self.folder / "truth"
        truth.unlink(missing_ok=True)
        environment = os.environ | {"LD_PRELOAD": str(self.build / "lib/libtraceinject.so"), "TRACEINJECT_OUTPUT": str(recording),
                                    "LD_LIBRARY_PATH": str(self.build / "fake_gpu/cuda13"), "FAKE_GPU_TRUTH": str(truth)}
        recording.unlink(missing_ok=True)
        subprocess.run([self.build / "fake_gpu/cuda13/fake_train", *PROGRAM, *flags], check=True, timeout=60, env=environment,
                       stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in truth.read_text().splitlines()]
        ends = [line["end_after"] for line in lines if line["t"] == "nvtx" and line["text"].startswith("step ") and line["kind"] == 1]
        return (ends[-1] - ends[0]) / (len(ends) - 1)

    def cell(self, cause, pace):
        """Step with the cause, its true and its predicted saving, in nanoseconds."""
        flags, label = CAUSES[cause]
        recording = self.folder / "with.db"
        now = self.step_ns(recording, [*flags, "--pace", str(pace)])
        then = self.step_ns(self.folder / "without.db", ["--pace", str(pace)])
        told = subprocess.run([self.build / "bin/analyze", recording, "--format", "json"], capture_output=True, check=True, timeout=60)
        savings = json.loads(told.stdout)["verdict"]["savings"]
        return now, now - then, sum(int(saving["saved_ns"]) for saving in savings if saving["label"] == label)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the CMake build folder")
    parser.add_argument("--paces", default="50,100,150,200,300", help="percent (default: 50,100,150,200,300)")
    parser.add_argument("--rounds", type=int, default=3, help="of each cell (default: 3)")
    options = parser.parse_args()
    print("| cause | pace, % | step, ms | true saving, ms | predicted, ms | error, % of the step | of the rounds |\n|---|---|---|---|---|---|---|")
    right = cells = 0
    with tempfile.TemporaryDirectory() as folder:
        player = Player(options.build.resolve(), pathlib.Path(folder))
        for cause in CAUSES:
            for pace in map(int, options.paces.split(",")):
                rounds = sorted((player.cell(cause, pace) for _ in range(options.rounds)), key=lambda cell: (cell[2] - cell[1]) / cell[0])
                errors = [100 * (predicted - saved) / now for now, saved, predicted in rounds]
                now, saved, predicted = rounds[len(rounds) // 2]
                error = statistics.median(errors)
                right, cells = right + (abs(error) <= 100 * TOLERANCE), cells + 1
                print(f"| {cause} | {pace} | {now / 1e6:.2f} | {saved / 1e6:.2f} | {predicted / 1e6:.2f} | {error:+.1f} | "
                      f"{errors[0]:+.1f} to {errors[-1]:+.1f} |", flush=True)
    print(f"{right} of {cells} within {TOLERANCE:.0%} of the step")
    return 0 if right >= LEAST_RIGHT * cells else 1


if __name__ == "__main__":
    sys.exit(main())
