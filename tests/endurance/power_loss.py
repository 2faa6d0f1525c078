#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts the power at random moments of recordings on the fake GPU, and looks at what may lie on the disk then: is the file sound, and how
much of its end is missing?

    power_loss.py --count 1000 --seed 1

What is written and synced is told by log_writes.cc; written_files.py says what a disk promises. Each file is sound if SQLite finds it so,
if it holds what it held after one of the commits, and if `analyze` reads it. Exit code 1 if one is not, or lacks more than --most-lost
says. --seed and --count replay.
"""

import argparse
import collections
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile

import seeds
import written_files

BUSY = ["--kernels", "300", "--kernel-us", "5", "--step-us", "3000", "--nvtx", "--memcpy", "--events", "--nccl", "new"]
# Name, and environment: the whole run, whose log is copied back once it is large, and a flight recorder, which uses pages again.
RECORDINGS = (("whole", {}), ("flight recorder", {"TRACEINJECT_KEEP_LAST": "1", "TRACEINJECT_MAX_SIZE": "16M"}))
COMMIT_FRAME = 24  # bytes of the header of a frame of a write-ahead log
GARBAGE_SHARE = 1 / 3

State = collections.namedtuple("State", "kernels last")
Commit = collections.namedtuple("Commit", "time_ns state")


def play(build, environment, seconds, killed, log):
    """A recorded run in a folder that is thrown away; what it wrote stands in `log`."""
    gpu = build / "fake_gpu" / "cuda13"
    with tempfile.TemporaryDirectory(prefix="traceinject-power-") as folder:
        env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(gpu), "TMPDIR": folder, "LOG_WRITES_OF": folder, "LOG_WRITES_TO": str(log),
               "LD_PRELOAD": f"{build}/lib/libtraceinject.so {build}/endurance/liblog_writes.so", **environment}
        steps = "-1" if killed else str(int(seconds * 200))
        with subprocess.Popen([gpu / "fake_train", "--steps", steps, *BUSY], cwd=folder, env=env, stdout=subprocess.DEVNULL) as process:
            try:
                if killed:
                    process.wait(seconds)
                    sys.exit(f"the program ended with {process.returncode}")
                if process.wait() != 0:
                    sys.exit(f"the program ended with {process.returncode}")
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            finally:
                process.kill()
        return pathlib.Path(folder).name


def lay_out(contents, folder):
    for old in folder.iterdir():
        old.unlink()
    for path, content in contents.items():
        (folder / pathlib.Path(path).name).write_bytes(content)


def read_state(path):
    """Of a file that SQLite may change; None: no tables. Raises DatabaseError for one that is damaged."""
    database = sqlite3.connect(path)
    try:
        if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            return None
        verdict = database.execute("PRAGMA integrity_check").fetchone()[0]
        if verdict != "ok":
            raise sqlite3.DatabaseError(verdict.split("\n")[0])
        return State(*database.execute("SELECT count(*), max(start) FROM kernel").fetchone())
    finally:
        database.close()


def is_commit(entry):
    return (entry.kind == written_files.WRITE and entry.path.endswith("-wal") and len(entry.data) == COMMIT_FRAME
            and int.from_bytes(entry.data[4:8], "big") != 0)


def commits_of(entries, folder):
    """What the file held after each of its commits."""
    disk, commits, due = written_files.Folder(), [], False
    for entry in entries:
        disk.apply(entry)
        if due:  # the page of the last frame
            lay_out(disk.contents(), folder)
            state = read_state(folder / "run.db")
            commits.append(Commit(entry.time_ns, state))
        due = is_commit(entry)
    return commits


class Outcome(collections.namedtuple("Outcome", "kind lost_s detail")):
    """kind: sound, empty (no file, or no tables), damaged."""


def judge(folder, commits, time_ns, analyze):
    path = folder / "run.db"
    done = [commit for commit in commits if commit.time_ns <= time_ns]
    age = lambda index: (time_ns - done[index].time_ns) / 1e9 if index < len(done) else 0.0
    if not path.exists() or path.stat().st_size == 0:
        return Outcome("empty", age(0), "no file")
    # It may not change the file, so it comes first.
    read = subprocess.run([analyze, "info", path], capture_output=True, text=True, check=False) if analyze else None
    try:
        state = read_state(path)
    except sqlite3.DatabaseError as error:
        return Outcome("damaged", age(0), str(error))
    if state is None:
        return Outcome("empty", age(0), "no tables")
    matching = [index for index, commit in enumerate(commits) if commit.state == state]
    if not matching:
        return Outcome("damaged", age(0), f"it never held {state.kernels} kernels until {state.last}")
    if read is not None and read.returncode != 0:
        return Outcome("damaged", age(0), f"analyze: {read.stderr.strip()}")
    return Outcome("sound", age(matching[-1] + 1), "")


def lose_power(entries, commits, seeds, folder, analyze, report):
    """An outcome for each seed, in the order of the moments."""
    moments = sorted((random.Random(seed).randrange(1, len(entries) + 1), seed) for seed in seeds)
    disk, applied = written_files.Folder(), 0
    for done, (moment, seed) in enumerate(moments):
        for entry in entries[applied:moment]:
            disk.apply(entry)
        applied = moment
        choose = random.Random(seed + 1)
        lay_out(disk.after_power_loss(choose), folder)
        if choose.random() < GARBAGE_SHARE:
            (folder / "run.db-shm").write_bytes(choose.randbytes(32768))
        outcome = judge(folder, commits, entries[moment - 1].time_ns, analyze if done % 5 == 0 else None)
        report(done + 1, len(moments), seed, moment, outcome)
        yield outcome


def percentile(values, share):
    return values[min(len(values) - 1, int(share * len(values)))] if values else 0.0


def examine(name, environment, arguments, scratch):
    """(whether no file was damaged, how many were sound). Half of the moments are of a run that ends by itself."""
    good, sound = True, 0
    for killed in (True, False):
        log = scratch / "log"
        play(arguments.build, environment, arguments.seconds, killed, log)
        entries = written_files.read_log(log)
        log.unlink()
        folder = scratch / "disk"
        folder.mkdir(exist_ok=True)
        commits = commits_of(entries, folder)
        syncs = sum(entry.kind == written_files.SYNC for entry in entries)
        seeds = range(arguments.seed, arguments.seed + arguments.count)

        def report(done, of, seed, moment, outcome):
            if outcome.kind == "damaged":
                print(f"  seed {seed}, entry {moment}: {outcome.detail}", file=sys.stderr)
            if done % 50 == 0:
                print(f"  {name}: {done} of {of}", file=sys.stderr)

        outcomes = list(lose_power(entries, commits, seeds, folder, arguments.build / "bin" / "analyze", report))
        kinds = collections.Counter(outcome.kind for outcome in outcomes)
        lost = sorted(outcome.lost_s for outcome in outcomes if outcome.kind != "damaged")
        print(f"{name}, {'killed' if killed else 'ended'}: {len(entries)} writes, {syncs} syncs, {len(commits)} commits; power lost "
              f"{len(outcomes)} times: {kinds['sound']} sound, {kinds['empty']} empty, {kinds['damaged']} damaged; committed, and "
              f"missing: {percentile(lost, 0.5):.1f} s (median), {percentile(lost, 0.99):.1f} s (99 %), {percentile(lost, 1):.1f} s (most)",
              flush=True)
        good = good and kinds["damaged"] == 0 and (not lost or lost[-1] <= arguments.most_lost)
        sound += kinds["sound"]
    return good, sound


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=250, help="moments of each of the four recordings (250)")
    parser.add_argument("--seed", type=int, default=1, help="of the first moment; each later one has the next")
    parser.add_argument("--seconds", type=float, default=6, help="how long each recording lasts (6)")
    parser.add_argument("--most-lost", type=float, default=2, help="seconds of committed data that may be missing (2)")
    parser.add_argument("--build", type=pathlib.Path, default=seeds.ROOT / "build" / "release", help="the CMake build folder")
    arguments = parser.parse_args()
    seeds.need_library(arguments.build)
    seeds.catch_signals()
    arguments.build = arguments.build.resolve()
    with tempfile.TemporaryDirectory(prefix="traceinject-power-") as scratch:
        examined = [examine(name, environment, arguments, pathlib.Path(scratch)) for name, environment in RECORDINGS]
    good = all(one for one, _ in examined) and sum(sound for _, sound in examined) > 0
    print("PASS" if good else "FAIL")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
