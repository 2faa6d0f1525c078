#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts and ends many short recorded programs on the fake GPU, one after the other, in all ways that programs begin.

    starts.py --count 10000 --seed 1

Each has the output and the exit status that it has without the library, what it recorded is complete, and nothing is left of it: no
process, file, descriptor of ours, or shared memory. Prints what a start and an end take with and without the library.
"""

import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import seeds

PLAIN_EVERY = 10  # how often a program is played without the library, for its time
TIMED = "a few steps"
# Name, flags, and how many recordings it leaves.
PROGRAMS = (
    (TIMED, ["--steps", "3", "--nvtx"], 1),
    ("no GPU", ["--no-gpu"], 0),
    ("only a look at the GPUs", ["--init-only"], 0),
    ("child before CUDA", ["--steps", "2", "--fork", "before:train"], 2),
    ("idle child", ["--steps", "2", "--fork", "after:idle"], 1),
    ("child that ends", ["--steps", "2", "--fork", "after:exit"], 1),
    ("started child", ["--steps", "2", "--exec-child"], 1),
    ("vfork", ["--steps", "2", "--vfork-child"], 1),
    ("becomes another", ["--steps", "2", "--exit", "exec"], None),
    ("threads", ["--steps", "2", "--threads", "4", "--churn", "20"], 1),
    ("_exit", ["--steps", "2", "--exit", "_exit:4"], 1),
)


class Folder:
    def __init__(self, path, build):
        self.path, self.gpu = pathlib.Path(path), build / "fake_gpu" / "cuda13"
        self.library = build / "lib" / "libtraceinject.so"
        self.temporary = self.path / "temporary"
        self.temporary.mkdir()

    def play(self, flags, preload):
        """(exit code, standard output and error, seconds)"""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.path), "TMPDIR": str(self.temporary), "LD_LIBRARY_PATH": str(self.gpu)}
        if preload:
            env["LD_PRELOAD"] = str(self.library)
        begin = time.monotonic()
        ended = subprocess.run([self.gpu / "fake_train", *flags], cwd=self.path, env=env, capture_output=True, text=True, timeout=60, check=False)
        return (ended.returncode, ended.stdout, ended.stderr), time.monotonic() - begin

    def wrong_with(self, recordings):
        """What is not as it should be of what is left, which is removed."""
        wrong = []
        if left := seeds.processes_of(self.path):
            wrong.append(f"processes are left: {left}")
        names = sorted(path.name for path in self.path.iterdir() if path != self.temporary)
        databases = [name for name in names if name.startswith("run.") and not name.endswith(("-wal", "-shm"))]
        if recordings is not None and (len(databases) != recordings or names != databases):
            wrong.append(f"{recordings} recordings are due, there is {names}")
        if any(self.temporary.iterdir()):
            wrong.append("temporary files are left")
        for name in databases:
            wrong += self._wrong_with_recording(name, finished=recordings is not None)
        for name in names:
            (self.path / name).unlink()
        return wrong

    def _wrong_with_recording(self, name, finished):
        database = sqlite3.connect(self.path / name)
        try:
            verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
            closed = database.execute("SELECT count(*) FROM meta WHERE key = 'closed'").fetchone()[0]
            lost = database.execute("SELECT source, counter, value FROM health WHERE counter IN ('dropped', 'errors', 'failed')").fetchall()
        finally:
            database.close()
        wrong = [f"{name}: {verdict}"] if verdict != "ok" else []
        if finished and not closed:
            wrong.append(f"{name} was not finished")
        return wrong + [f"{name}: {one}" for one in lost]


def milliseconds(times):
    ordered = sorted(times)
    return f"{1e3 * statistics.median(ordered):.1f} ms (median), {1e3 * ordered[int(0.99 * len(ordered))]:.1f} ms (99 %)" if ordered else "not played"


def play_all(given, folder):
    build_times, failed = {True: [], False: []}, []
    expected = {name: folder.play(flags, preload=False)[0] for name, flags, _ in PROGRAMS}
    for done, seed in enumerate(range(given.seed, given.seed + given.count), 1):
        name, flags, recordings = random.Random(seed).choice(PROGRAMS)
        looks, seconds = folder.play(flags, preload=True)
        wrong = folder.wrong_with(recordings)
        if looks != expected[name]:
            wrong.append(f"{looks} instead of {expected[name]}")
        if name == TIMED:
            build_times[True].append(seconds)
            if len(build_times[True]) % PLAIN_EVERY == 0:
                build_times[False].append(folder.play(flags, preload=False)[1])
        if wrong:
            failed.append(seed)
            print(f"seed {seed}, {name}: {'; '.join(wrong)}", file=sys.stderr)
        if done % 500 == 0:
            print(f"  {done} of {given.count}, {len(failed)} failed", file=sys.stderr)
    return build_times, failed


def main():
    given = seeds.arguments(__doc__, 10_000, at_once=None)
    memory, descriptors = seeds.shared_memory(), seeds.descriptors()
    with tempfile.TemporaryDirectory(prefix="traceinject-starts-") as path:
        times, failed = play_all(given, Folder(path, given.build.resolve()))
    left = [name for name in seeds.shared_memory() - memory if "traceinject" in name or "run.db" in name]
    print(f"{given.count} programs, {len(failed)} failed; a few steps take {milliseconds(times[True])} with the library, "
          f"{milliseconds(times[False])} without")
    good = not failed and not left and seeds.descriptors() == descriptors
    print("PASS" if good else f"FAIL: seeds {failed[:20]}, shared memory {left}, descriptors {seeds.descriptors() - descriptors}")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
