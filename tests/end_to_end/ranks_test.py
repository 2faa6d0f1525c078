# SPDX-License-Identifier: Apache-2.0
"""A rank that is late, and what the verdict says it does that its peers do not: TRACEINJECT_SEEDS in the environment tries more jobs."""

import json
import os
import pathlib
import random
import subprocess
import sys

import harness
import ranks_program

PROGRAM = pathlib.Path(ranks_program.__file__)
RANKS, STEPS = 4, 60
SEEDS = int(os.environ.get("TRACEINJECT_SEEDS", "2"))


def line_of(mark):
    return next(number for number, line in enumerate(PROGRAM.read_text().split("\n"), 1) if line.endswith(f"# {mark}"))


class Ranks(harness.TestCase):
    def record(self, kind, late, seed, hz):
        """The kernel that was planted, and what it costs a step."""
        for old in self.folder.glob("run.*"):
            old.unlink()
        for first in range(0, RANKS, 2):
            started = [self.start(command=[sys.executable, str(PROGRAM), kind, str(late), str(seed), str(STEPS)],
                                  env={**harness.STAND_IN, "TRACEINJECT_FLUSH_MS": "100", "TRACEINJECT_STACKS_HZ": str(hz), "RANK": str(rank),
                                       "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}) for rank in (first, first + 1)]
            for process in started:
                ended = self.finish(process)
                self.assertEqual((ended.code, ended.stderr), (0, ""))
        kernel, late_ns = ended.stdout.split()
        return kernel, int(late_ns)

    def analyze(self, *arguments):
        ended = subprocess.run([harness.BUILD / "bin" / "analyze", *arguments], cwd=self.folder, capture_output=True, text=True, check=True)
        return ended.stdout

    def first(self, kind, late, seed, hz):
        """The first difference, with the kernel that was planted."""
        kernel, late_ns = self.record(kind, late, seed, hz)
        report = json.loads(self.analyze("report", "run.db", "--format", "json"))
        finding = next(one for one in report["rank_findings"] if one["name"] == "straggler")
        self.assertTrue(finding["differences"], finding)
        first = finding["differences"][0]
        self.assertEqual(finding["evidence"][0], first["text"])
        self.assertTrue(f"rank {late} " in first["text"] or f"rank {late}'s" in first["text"], first)
        self.assertAlmostEqual(int(first["more_ns"]), late_ns, delta=0.3 * late_ns)
        # The ranks wait for nobody: on a machine that is busy, the job cannot be played well enough for the verdict to be theirs.
        if report["verdict"]["place"]:
            self.assertEqual(report["verdict"]["place"], f"rank {late}")
            self.assertIn(first["text"], [line["text"] for line in report["verdict"]["evidence"][:3]])
        return first, kernel

    @staticmethod
    def each(kind):
        return [(random.Random(f"{kind} {seed}").randrange(RANKS), seed) for seed in range(1, SEEDS + 1)]

    def test_ranks_that_no_launcher_told(self):
        """As Lightning starts them: NCCL knows which is which."""
        started = [self.start(command=[sys.executable, str(PROGRAM), "more", "1", "1", "20"],
                              env={**harness.STAND_IN, "TRACEINJECT_OUTPUT": f"run{rank}.db", "LOCAL_RANK": str(rank), "NODE_RANK": "0", "WORLD_SIZE": "2"})
                   for rank in range(2)]
        for process in started:
            self.assertEqual(self.finish(process).code, 0)
        report = json.loads(self.analyze("report", ".", "--format", "json"))
        self.assertEqual([(source["rank"], source["world_size"]) for source in report["sources"]], [(0, 2), (1, 2)])
        self.assertIn("straggler", [one["name"] for one in report["rank_findings"]])

    def test_more_kernels(self):
        for late, seed in self.each("more"):
            first, kernel = self.first("more", late, seed, 200)
            self.assertEqual((first["kind"], first["kernel"]), ("more", kernel))
            self.assertAlmostEqual(first["count"] - first["peers_count"], ranks_program.MORE, delta=0.01)
            self.assertEqual(first["place"], f"ranks_program.py:{line_of('extra')} in extra_work")
            self.assertIn(f"runs {ranks_program.MORE} more {kernel} (", first["text"])

    def test_slower_kernels(self):
        for late, seed in self.each("slower"):
            first, kernel = self.first("slower", late, seed, 200)
            self.assertEqual((first["kind"], first["kernel"]), ("slower", kernel))
            self.assertAlmostEqual(first["ratio"], ranks_program.SLOWER, delta=0.02)

    def test_a_slow_line_of_the_host(self):
        """The line is what the verdict is about, on that rank."""
        for late, seed in self.each("host"):
            first, _ = self.first("host", late, seed, 200)
            self.assertEqual((first["kind"], first["place"]), ("line", f"ranks_program.py:{line_of('host')} in augment"))

    def test_without_stacks_the_kernels_are_named(self):
        first, kernel = self.first("more", 1, 1, 0)
        self.assertEqual((first["kind"], first["kernel"], first["place"]), ("more", kernel, ""))


if __name__ == "__main__":
    harness.main()
