#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays days of a flight recorder on the fake GPU, whose time of day runs fast and is set now and then, as by NTP, leap seconds, and hands.

    week.py --days 7 --speed 50 --seed 1

Correlation ids pass 32 bits soon after the beginning. All the time the file stays within its limit, and so do its names. Then the program
is killed: what is kept is sound, without holes, refers to nothing that is gone, and holds the last of what the program did. At a speed of
50 a week takes 3.4 hours; at 5000, two minutes.
"""

import argparse
import contextlib
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import seeds

LIMIT = 16 << 20
MOST_OF_LIMIT = 1.05
BEFORE_WRAP = (1 << 32) - 200_000
# Each step has a name that no other has.
WORK = ["--steps", "-1", "--kernels", "100", "--kernel-us", "5", "--nvtx", "--memcpy", "--events", "--nccl", "new"]
STEP_US = 8000  # on a clock that is not ahead
SETTINGS_A_DAY = 6
MOST_IN_FLIGHT = 200  # of a step or two, when the clock is set
LOOK_S = 0.25


def clock_settings(choose, days):
    """(seconds after the beginning, by how much the clock is set): small ones of NTP, leap seconds, and an hour back and forth."""
    moments = sorted(choose.uniform(0, days * 86400) for _ in range(max(4, int(days * SETTINGS_A_DAY))))
    kinds = [choose.choice(("ntp", "ntp", "ntp", "leap", "hour")) for _ in moments]
    by, settings = {"leap": lambda: -1.0, "ntp": lambda: choose.uniform(-2, 2), "hour": lambda: choose.choice((-3600.0, 3600.0))}, []
    for moment, kind in zip(moments, kinds):
        settings.append((moment, by[kind]()))
    return settings


def bytes_of(folder):
    total = 0
    for name in ("run.db", "run.db-wal"):
        with contextlib.suppress(OSError):
            total += (folder / name).stat().st_size
    return total


def watch(process, folder, seconds):
    """The most that the file had, while the program played so long."""
    largest, begin, told = 0, time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        if process.poll() is not None:
            sys.exit(f"the program ended with {process.returncode}")
        largest = max(largest, bytes_of(folder))
        if (minutes := int((time.monotonic() - begin) / 60)) > told:
            told = minutes
            print(f"  {minutes} min of {seconds / 60:.0f}: at most {largest / 1e6:.1f} MB", file=sys.stderr)
        time.sleep(LOOK_S)
    return largest


def one(database, sql):
    return database.execute(sql).fetchone()[0]


def numbers_of_steps(database):
    """Those that are kept, and those that are missing between them. By their numbers: the time of day may have gone back meanwhile. Ranges
    that were open at a flush have rows of their own, below 0, and may stay longer."""
    sql = ("SELECT s.text FROM nvtx n JOIN string s ON s.id = n.text WHERE s.text GLOB 'step [0-9]*' AND n.dur IS NOT NULL AND n.rowid ")
    numbers = {sign: {int(text.split()[1]) for (text,) in database.execute(f"{sql} {sign} 0")} for sign in "<>"}
    whole = range(min(numbers[">"], default=0), max(numbers[">"], default=-1) + 1)
    return sorted(numbers[">"]), [step for step in whole if step not in numbers[">"] | numbers["<"]]


def wrong_with(path, begin_ns, end_ns, settings):
    """Sentences about what is not as it should be, and one about what was found."""
    from flight_recorder_test import REFERENCES
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    wrong = []
    if (verdict := one(database, "PRAGMA integrity_check")) != "ok":
        return [verdict], "damaged"
    for table, column, target in REFERENCES:
        sql = f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT id FROM {target})"
        if missing := one(database, sql):
            wrong.append(f"{missing} rows of {table} refer to a {target} that is gone")
    steps, holes = numbers_of_steps(database)
    if holes or not steps:
        wrong.append(f"{len(holes)} of {len(steps)} steps are missing: {holes[:5]}")
    used, names = one(database, "SELECT count(DISTINCT text) FROM nvtx"), one(database, "SELECT count(*) FROM string")
    if names > 3 * used + 3000:
        wrong.append(f"{names} names, of which {used} are used")
    newest = one(database, "SELECT max(correlation) FROM (SELECT correlation FROM kernel ORDER BY rowid DESC LIMIT 1000)")
    lonely = one(database, "SELECT count(*) FROM (SELECT correlation FROM kernel ORDER BY rowid DESC LIMIT 20000 OFFSET 5000) WHERE "
                           "correlation NOT IN (SELECT correlation FROM api)")
    if lonely:
        wrong.append(f"{lonely} kernels have no call")
    lost = dict(database.execute("SELECT source || '.' || counter, value FROM health "
                                 "WHERE counter IN ('dropped', 'errors', 'failed', 'stood_aside')"))
    # Work that seems to end long before it began, as the clock was set meanwhile, is dropped and counted.
    in_flight = lost.pop("kernel.dropped", 0) + lost.pop("memcpy.dropped", 0)
    if lost or in_flight > MOST_IN_FLIGHT * len(settings):
        wrong.append(f"lost: {lost}, and {in_flight} kernels and copies")
    base = one(database, "SELECT value FROM meta WHERE key = 'base_ns'")
    most_off_ns = int(1e9 * sum(abs(by) for _, by in settings))
    outside = one(database, f"SELECT count(*) FROM kernel WHERE dur < 0 OR {base} + start < {begin_ns - most_off_ns} OR "
                            f"{base} + start + dur > {end_ns + most_off_ns}")
    if outside:
        wrong.append(f"{outside} kernels are at times that never were")
    days = one(database, "SELECT max(start) - min(start) FROM kernel") / 86400e9
    expired = one(database, "SELECT coalesce(sum(value), 0) FROM health WHERE source = 'kernel' AND counter = 'expired'")
    return wrong, (f"the clock was set {len(settings)} times; {expired} kernels came and went, {in_flight} were dropped, {len(steps)} steps of {days:.2f} days are kept, up to "
                   f"step {steps[-1] if steps else 0}; correlation ids are at {newest}; {names} names")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=float, default=7, help="that are played (7)")
    parser.add_argument("--speed", type=float, default=50, help="of the time of day (50)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments at which the clock is set")
    parser.add_argument("--build", type=pathlib.Path, default=seeds.ROOT / "build" / "release", help="the CMake build folder")
    given = parser.parse_args()
    seeds.need_library(given.build)
    seeds.catch_signals()
    build = given.build.resolve()
    os.environ["TRACEINJECT_BUILD"] = str(build)
    settings = clock_settings(random.Random(given.seed), given.days)
    gpu = build / "fake_gpu" / "cuda13"
    env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(gpu), "TRACEINJECT_KEEP_LAST": "1", "TRACEINJECT_MAX_SIZE": str(LIMIT),
           "LD_PRELOAD": f"{build}/lib/libtraceinject.so {build}/endurance/libweek_clock.so", "WEEK_SPEED": str(given.speed),
           "WEEK_STEPS": " ".join(f"{moment:.3f}:{by:.6f}" for moment, by in settings), "FAKE_CUDA_CORRELATION": str(BEFORE_WRAP)}
    with tempfile.TemporaryDirectory(prefix="traceinject-week-") as name:
        folder = pathlib.Path(name)
        begin_ns = time.time_ns()
        command = [gpu / "fake_train", *WORK, "--step-us", str(int(STEP_US * given.speed))]
        with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL) as process:
            try:
                largest = watch(process, folder, given.days * 86400 / given.speed)
            finally:
                process.send_signal(signal.SIGKILL)
        wrong, found = wrong_with(folder / "run.db", begin_ns, begin_ns + int(given.days * 86400e9), settings)
    if largest > LIMIT * MOST_OF_LIMIT:
        wrong.append(f"the file had {largest} bytes, the limit is {LIMIT}")
    print(f"{given.days} days at a speed of {given.speed}: at most {largest / 1e6:.1f} MB of {LIMIT / 1e6:.1f}; {found}")
    print("PASS" if not wrong else "FAIL: " + "; ".join(wrong))
    return 0 if not wrong else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
