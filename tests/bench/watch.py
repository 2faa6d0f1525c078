#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `analyze watch` costs the program that it watches, and itself.

Plays a run of so many events a second on the fake GPU, by turns with and without `analyze watch` beside it, and compares the processor
time of the recorder's writer (its own health counter writer.cpu_us) for each event that it stored. Then looks once at finished files of
several sizes: what a look costs is to depend on the last seconds, not on the length of the file.
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = 50  # a step; each is launched by a call, which is recorded, too


def play(folder, build, events_per_s, seconds, watched):
    """Events stored, microseconds of the writer, records dropped, and the pictures of the watch."""
    step_us = round(1e6 * 2 * KERNELS / events_per_s)
    steps = round(seconds * 1e6 / step_us)
    fake = build / "fake_gpu" / "cuda13"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LD_LIBRARY_PATH": str(fake),
                   "LD_PRELOAD": str(build / "lib" / "libtraceinject.so")}
    flags = ["--steps", steps, "--kernels", KERNELS, "--kernel-us", "2", "--step-us", step_us, "--nvtx"]
    watch = None
    if watched:
        with open(folder / "pictures", "w") as pictures:
            watch = subprocess.Popen([build / "bin" / "analyze", "watch", "run.db", "--format", "json"], cwd=folder, stdout=pictures,
                                     stderr=subprocess.DEVNULL)
    begin = time.monotonic()
    subprocess.run([fake / "fake_train", *map(str, flags)], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    took_s = time.monotonic() - begin
    lines = []
    if watch is not None:
        watch.wait(timeout=60)
        lines = [json.loads(line) for line in (folder / "pictures").read_text().splitlines()]
    run = sqlite3.connect(folder / "run.db")
    events = sum(run.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("kernel", "api", "nvtx", "memcpy", "memset"))
    health = {f"{source}.{counter}": value for source, counter, value in run.execute("SELECT source, counter, value FROM health")}
    run.close()
    for path in folder.glob("run.db*"):
        path.unlink()
    dropped = sum(value for name, value in health.items() if name.endswith((".dropped", ".exhausted")))
    return {"events": events, "cpu_us": health["writer.cpu_us"], "dropped": dropped, "took_s": took_s, "pictures": lines}


def compare(folder, arguments):
    print(f"{arguments.rounds} rounds of {arguments.seconds} s, {arguments.events:,} events a second asked for")
    rows = {False: [], True: []}
    for number in range(arguments.rounds):
        # Each of a pair goes first as often as the other.
        for watched in ((False, True) if number % 2 == 0 else (True, False)):
            row = play(folder, arguments.build, arguments.events, arguments.seconds, watched)
            rows[watched].append(row)
            print(f"  round {number + 1} {'watched' if watched else 'alone  '}: {row['events']:,} events, "
                  f"{row['events'] / row['took_s']:,.0f} a second; writer {row['cpu_us'] / 1e6:.3f} s, "
                  f"{row['cpu_us'] * 1e3 / row['events']:.1f} ns an event; dropped {row['dropped']}")
    cost = {watched: [row["cpu_us"] * 1e3 / row["events"] for row in rows[watched]] for watched in rows}
    added = [100 * (w / a - 1) for a, w in zip(cost[False], cost[True])]
    late_ms = [line["late_ns"] / 1e6 for row in rows[True] for line in row["pictures"] if not line["ended"]]
    age_ms = [(line["time_unix_ns"] - line["recorded_until_unix_ns"]) / 1e6
              for row in rows[True] for line in row["pictures"] if not line["ended"]]
    window_s = [line["window_ns"] / 1e9 for row in rows[True] for line in row["pictures"] if not line["ended"]]
    print(f"writer: {statistics.median(cost[False]):.1f} ns an event alone, {statistics.median(cost[True]):.1f} watched; added by round "
          f"{', '.join(f'{x:+.1f} %' for x in added)}; median {statistics.median(added):+.1f} %")
    print(f"dropped: {sum(row['dropped'] for row in rows[False])} alone, {sum(row['dropped'] for row in rows[True])} watched")
    print(f"{len(late_ms)} pictures: late by {statistics.median(late_ms):.0f} ms (median), {max(late_ms):.0f} ms (worst); newest event "
          f"{statistics.median(age_ms):.0f} ms old (median), {max(age_ms):.0f} ms (worst); window {min(window_s):.1f} to {max(window_s):.1f} s")


def look(arguments, path, window):
    """Seconds of processor time and of the clock of one picture."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    process = subprocess.Popen([arguments.build / "bin" / "analyze", "watch", str(path), "--once", "--window", window],
                               stdout=subprocess.DEVNULL)
    process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        sys.exit(f"analyze watch {path} ended with {process.returncode}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - begin


def by_length(folder, arguments):
    # make_run.py has a kernel every 5 us, and nearly as many calls.
    print("one picture of the last 2 s (some 800,000 events), by the length of the file:")
    for events in arguments.lengths:
        path = folder / "long.db"
        subprocess.run([sys.executable, str(ROOT / "tests/bench/make_run.py"), str(path), "--events", str(events)], check=True,
                       stdout=subprocess.DEVNULL)
        looks = [look(arguments, path, "2s") for _ in range(5)]
        print(f"  {events:>12,} events, {path.stat().st_size / 1e6:>7,.0f} MB: {statistics.median(cpu for cpu, _ in looks):.2f} s of processor, "
              f"{statistics.median(clock for _, clock in looks):.2f} s by the clock (median of 5)")
        path.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--events", type=int, default=100_000, help="a second")
    parser.add_argument("--lengths", type=int, nargs="*", default=[1_000_000, 3_000_000, 10_000_000], help="of the files, in events")
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    with tempfile.TemporaryDirectory(prefix="traceinject-bench-") as folder:
        if arguments.rounds > 0:
            compare(pathlib.Path(folder), arguments)
        if arguments.lengths:
            by_length(pathlib.Path(folder), arguments)


if __name__ == "__main__":
    main()
