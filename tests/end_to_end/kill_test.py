# SPDX-License-Identifier: Apache-2.0
"""A process that ends at any moment and in any way leaves a file that opens, is sound, and lacks at most the last two seconds.

TRACEINJECT_KILLS: how many processes are killed, and how many end in other ways (default 20; 100 with TRACEINJECT_LONG=1). TRACEINJECT_SEED: of the moments.
"""

import os
import random
import signal
import time
import unittest

import harness

KILLS = int(os.environ.get("TRACEINJECT_KILLS") or (100 if os.environ.get("TRACEINJECT_LONG") == "1" else 20))
SEED = int(os.environ.get("TRACEINJECT_SEED", "1"))
AT_ONCE = 5
MOST_LOST_NS = 2_000_000_000
LATEST_S = 3.5
EDGE_NS = 100_000_000  # before the last flush: a call may have been in a buffer with work that was not done


class Kill(harness.TestCase):
    def test_kills_at_random_moments(self):
        moments = random.Random(SEED)
        with_rows = 0
        for first in range(0, KILLS, AT_ONCE):
            # A fifth of the kills hit the start, where the file is made.
            lives = sorted(moments.uniform(0, LATEST_S if i % AT_ONCE else 0.1) for i in range(min(AT_ONCE, KILLS - first)))
            names = [f"kill{first + i}.db" for i in range(len(lives))]
            begin = time.monotonic()
            processes = [self.start("--steps", "-1", "--step-us", "3000", "--nvtx", "--events", "--memcpy", "--nccl", "new",
                                    env={"TRACEINJECT_OUTPUT": name}) for name in names]
            killed = []
            for life, process in zip(lives, processes):
                time.sleep(max(0.0, begin + life - time.monotonic()))
                killed_ns = time.time_ns()
                process.kill()
                killed.append(killed_ns)
            for life, name, process, killed_ns in zip(lives, names, processes, killed):
                with self.subTest(name=name, life=life, seed=SEED):
                    ended = self.finish(process)
                    self.assertEqual(ended.code, harness.killed_by(signal.SIGKILL))
                    with_rows += self.check(name, ended, killed_ns)
        self.assertGreater(with_rows, KILLS // 3, "too few runs lived long enough to have rows: the check would be empty")

    # How fake_train ends itself, or what it is sent, and what its parent is told.
    ENDINGS = (("_exit:7", None, 7), ("throw", None, harness.killed_by(signal.SIGABRT)), ("sigterm", None, harness.killed_by(signal.SIGTERM)),
               ("exit:3", None, 3), ("return", signal.SIGTERM, harness.killed_by(signal.SIGTERM)),
               ("return", signal.SIGKILL, harness.killed_by(signal.SIGKILL)))

    def test_other_endings_at_random_moments(self):
        choose = random.Random(SEED + 1)
        with_rows = 0
        for first in range(0, KILLS, AT_ONCE):
            begun = []
            for i in range(first, min(first + AT_ONCE, KILLS)):
                how, sent, code = choose.choice(self.ENDINGS)
                life = choose.uniform(0, LATEST_S)
                steps = "-1" if sent else str(1 + int(life * 200))
                process = self.start("--steps", steps, "--step-us", "3000", "--nvtx", "--memcpy", "--exit", how,
                                     env={"TRACEINJECT_OUTPUT": f"end{i}.db"})
                begun.append((life, f"end{i}.db", how, sent, code, process))
            begin = time.monotonic()
            ends_ns = {}
            for life, name, _, sent, _, process in sorted(begun, key=lambda one: one[0]):
                if sent is None:
                    continue
                time.sleep(max(0.0, begin + life - time.monotonic()))
                ends_ns[name] = time.time_ns()
                process.send_signal(sent)
            for life, name, how, sent, code, process in begun:
                with self.subTest(name=name, how=how, sent=sent, life=life, seed=SEED):
                    ended = self.finish(process)
                    self.assertEqual(ended.code, code)
                    with_rows += self.check(name, ended, ends_ns.get(name))
        self.assertGreater(with_rows, KILLS // 3, "too few runs lived long enough to have rows: the check would be empty")

    def check(self, name, ended, killed_ns=None):
        """Whether the file has kernels. A process that ended by itself did so after its last kernel."""
        truth = self.truth(ended).kernels() if ended.truth_path.exists() else []
        if killed_ns is None:
            killed_ns = max((kernel.end for kernel in truth), default=0)
        due = {kernel for kernel in truth if kernel.end <= killed_ns - MOST_LOST_NS}
        if not (self.folder / name).exists():
            self.assertEqual(due, set(), "no file, though there was work more than two seconds before the end")
            return 0
        recording = harness.Recording.open_killed(self.folder / name)
        if recording is None:
            self.assertEqual(due, set(), "an empty file, though there was work more than two seconds before the end")
            return 0
        self.addCleanup(recording.close)
        self.assertEqual(recording.integrity(), "ok")
        if ended.code == harness.killed_by(signal.SIGKILL):
            self.assertNotIn("closed", recording.meta)
        recorded = set(recording.kernels())
        self.assertEqual(due - recorded, set(), "kernels are missing from before the last two seconds")
        self.assertEqual(recorded - set(truth), set(), "kernels were made up")
        called = {call.correlation for call in recording.calls()}
        last = max((kernel.end for kernel in recorded), default=0)
        without = [kernel for kernel in recorded if kernel.end < last - EDGE_NS and kernel.correlation not in called]
        self.assertEqual(without, [], "kernels are there whose calls are not")
        return 1 if recorded else 0


if __name__ == "__main__":
    harness.main()
