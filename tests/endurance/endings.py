#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends recorded programs on the fake GPU at random moments and in random ways.

    endings.py --count 1000 --seed 1

Each leaves a file that is sound, lacks at most the last two seconds, and makes nothing up, its exit status is the program's own, and
neither processes nor temporary files are left. --seed and --count replay.
"""

import contextlib
import errno
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import seeds

LATEST_S = 3.0
WORK = ["--step-us", "3000", "--nvtx", "--memcpy", "--events"]
MEMORY_CGROUPS = (pathlib.Path("/sys/fs/cgroup/memory"), pathlib.Path("/sys/fs/cgroup"))
LIMITS = ("memory.limit_in_bytes", "memory.max")
MEMORY_LIMIT = 192 << 20
SWAP_LIMITS = (("memory.memsw.limit_in_bytes", MEMORY_LIMIT), ("memory.swap.max", 0))
# Eats memory until somebody in its group is killed.
HOG = "import time\nkept = []\nwhile True:\n    kept.append(b'x' * (1 << 20))\n    time.sleep(0.0005)\n"


class Way:
    """How a program ends: by itself (`exit`, of fake_train), or by what is done to it; `code`: what its parent is told."""

    def __init__(self, name, code, exit="return", sent=None, environment=None):
        self.name, self.code, self.exit, self.sent, self.environment = name, code, exit, sent, environment or {}


WAYS = (
    Way("return", 0),
    Way("exit", 3, exit="exit:3"),
    Way("_exit", 7, exit="_exit:7"),
    Way("quick_exit", 5, exit="quick_exit:5"),
    Way("exception", -signal.SIGABRT, exit="throw"),
    Way("abort", -signal.SIGABRT, exit="abort"),
    Way("SIGTERM by itself", -signal.SIGTERM, exit="sigterm"),
    Way("exit beside a thread", 6, exit="thread:6"),
    Way("SIGTERM", -signal.SIGTERM, sent=signal.SIGTERM),
    Way("SIGKILL", -signal.SIGKILL, sent=signal.SIGKILL),
    Way("SIGINT", -signal.SIGINT, sent=signal.SIGINT),
    Way("SIGSEGV", -signal.SIGSEGV, sent=signal.SIGSEGV),
    Way("out of memory", -signal.SIGKILL),
    Way("full disk", 3, exit="exit:3"),
    Way("full disk, SIGKILL", -signal.SIGKILL, sent=signal.SIGKILL),
)


class MemoryGroup:
    """A cgroup with little memory, in which the system kills the program, since another one there wants more."""

    def __init__(self, name):
        for root, limit in zip(MEMORY_CGROUPS, LIMITS):
            self.folder = root / name
            try:
                self.folder.mkdir()
                (self.folder / limit).write_text(str(MEMORY_LIMIT))
                for swap_limit, most in SWAP_LIMITS:  # absent where swap is not counted
                    if (self.folder / swap_limit).exists():
                        (self.folder / swap_limit).write_text(str(most))
                return
            except OSError:
                with contextlib.suppress(OSError):
                    self.folder.rmdir()
        raise OSError("no cgroup that limits memory can be made here")

    def add(self, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))

    def kill(self, process):
        """Returns once it is dead. Sometimes the system kills who wants more, instead."""
        pathlib.Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000")
        join = f"import os\nopen('{self.folder}/cgroup.procs', 'w').write(str(os.getpid()))\n"
        while process.poll() is None:
            hog = subprocess.Popen([sys.executable, "-c", join + HOG], stderr=subprocess.DEVNULL)
            try:
                while process.poll() is None and hog.poll() is None:
                    time.sleep(0.005)
            finally:
                hog.kill()
                hog.wait()

    def remove(self):
        for _ in range(100):  # the dead are counted for a moment
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.02)


def ending(seed):
    import harness
    import kill_test

    class Ending(kill_test.Kill):
        def runTest(self):
            choose = random.Random(seed)
            self.way, self.life_s = choose.choice(WAYS), choose.uniform(0, LATEST_S)
            self.kind = self.way.name
            self.end_well(choose)
            self.assertEqual(seeds.processes_of(self.folder), [], "processes are left")
            # Where the disk is full, a file with the reason.
            left = sorted(path.name for path in self.temporary.iterdir() if not path.name.startswith("run.db"))
            self.assertEqual(left, [], "temporary files are left")
            self.assertLessEqual(set(self.files()), {"run.db", "run.db-wal", "run.db-shm", "run.db-journal"})

        kind = "not begun"

        def stop(self):
            for number in [int(one.split()[0]) for one in seeds.processes_of(self.folder)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)

        def begin_program(self, group):
            way, steps = self.way, str(1 + int(self.life_s * 250))
            full = way.name.startswith("full disk")
            self.when_full = self.folder / "truth.when"
            env = {"FAIL_FILES_PATH": f"{self.folder}/run.db", "FAIL_FILES_CALLS": "write", "FAIL_FILES_ERROR": str(errno.ENOSPC),
                   "FAIL_FILES_WHEN": str(self.when_full)} if full else {}
            steps = "-1" if way.sent or group else steps
            process = self.start("--steps", steps, *WORK, "--exit", way.exit, env=env, beside=["fail_files"] if full else [])
            if group:
                group.add(process.pid)
            return process

        def end_well(self, choose):
            way, group = self.way, None
            if way.name == "out of memory":
                try:
                    group = MemoryGroup(f"traceinject-{os.getpid()}-{seed}")
                except OSError as error:
                    self.skipTest(str(error))
                self.addCleanup(group.remove)
            process = self.begin_program(group)
            begin, ended_ns = time.monotonic(), None
            if way.name.startswith("full disk"):
                time.sleep(choose.uniform(0, self.life_s))
                self.when_full.touch()
            if way.sent or group:
                time.sleep(max(0.0, begin + self.life_s - time.monotonic()))
                ended_ns = time.time_ns()
                if group:
                    group.kill(process)
                else:
                    process.send_signal(way.sent)
            ended = self.finish(process)
            self.assertEqual(ended.code, way.code, ended.stderr)
            if way.name.startswith("full disk"):
                self.check_full(ended)
            else:
                self.check("run.db", ended, ended_ns)

        def check_full(self, ended):
            """What was written before is sound; nothing is due that came later."""
            if not (self.folder / "run.db").exists():
                return
            recording = harness.Recording.open_killed(self.folder / "run.db")
            if recording is None:
                return
            self.addCleanup(recording.close)
            self.assertEqual(recording.integrity(), "ok")
            self.assertEqual(set(recording.kernels()) - set(self.truth(ended).kernels()), set(), "kernels were made up")

    return Ending()


if __name__ == "__main__":
    sys.exit(seeds.play(seeds.arguments(__doc__, 1000), ending))
