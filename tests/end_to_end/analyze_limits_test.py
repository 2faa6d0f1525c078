#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of threads and memory, as those of a user, a container, or a job: analyze does with the threads that it gets what it does with
all, and says so where memory is short."""

import gzip
import json
import os
import subprocess

import harness


def trace(rank):
    """A PyTorch trace of one rank: steps of 10 ms, a kernel and the call that launched it in each."""
    events = [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ts": 0, "dur": 200_000}]
    for step in range(20):
        start = 10_000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 100 + rank, "tid": 1, "ts": start, "dur": 9_900})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 100 + rank, "tid": 1, "ts": start + 10, "dur": 5,
                       "args": {"correlation": step + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": "step_kernel", "pid": 0, "tid": 7, "ts": start + 30, "dur": 7_000 + 100 * rank,
                       "args": {"device": 0, "context": 1, "stream": 7, "correlation": step + 1, "grid": [8, 1, 1], "block": [128, 1, 1]}})
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 4}, "traceEvents": events}


class Limits(harness.AnalyzeTestCase):
    RANKS = [f"rank{rank}.json.gz" for rank in range(4)]

    def setUp(self):
        super().setUp()
        for rank, name in enumerate(self.RANKS):
            with gzip.open(self.folder / name, "wt") as file:
                json.dump(trace(rank), file)


class FewThreads(Limits):
    refuse = harness.BUILD / "faults" / "librefuse_threads.so"

    def run_with(self, threads, *command):
        env = {**os.environ, "LD_PRELOAD": str(self.refuse), "REFUSE_THREADS_FROM": str(threads + 1)}
        return subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, timeout=60)

    def test_reports_are_the_same(self):
        for command in ([self.RANKS[0]], ["ranks", *self.RANKS], ["kernels", self.RANKS[1]], ["summarize", *self.RANKS, "-o", "all.summary"]):
            expected = self.run_with(1000, self.analyze, *command)
            self.assertEqual(expected.returncode, 0, expected.stderr)
            for threads in range(8):
                with self.subTest(command=command[0], threads=threads):
                    ended = self.run_with(threads, self.analyze, *command)
                    self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, expected.stdout, expected.stderr))

    def test_viewer_names_the_limit(self):
        ended = self.run_with(0, harness.BUILD / "bin" / "traceview", self.RANKS[0], "--screenshot", "x.png")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("no more threads can be started; raise the limit of processes (ulimit -u", ended.stderr)


class LittleMemory(Limits):
    @harness.without_sanitizer("its runtime takes more addresses than any limit")
    def test_shortage_is_told_as_one(self):
        packed = harness.ROOT / "samples" / "recordings" / "transformer_h200.db.zst"
        for command in ([self.RANKS[0]], ["ranks", *self.RANKS], [packed]):
            enough = []
            for limit_kb in range(16_000, 80_000, 500):
                with self.subTest(command=command[0], limit_kb=limit_kb):
                    ended = subprocess.run(["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(limit_kb), self.analyze, *command], cwd=self.folder,
                                           capture_output=True, text=True, timeout=60)
                    if ended.returncode == 0:
                        enough.append(limit_kb)
                    elif ended.returncode != 127:  # else not even its libraries fit
                        self.assertEqual(ended.returncode, 3, ended.stderr)
                        self.assertIn("not enough memory", ended.stderr)
                        self.assertNotIn("damaged", ended.stderr)
            self.assertIn(79_500, enough)


if __name__ == "__main__":
    harness.main()
