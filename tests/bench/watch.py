#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `analyze watch` costs the program that it watches, and itself.

Plays one run of so many events a second on the fake GPU, beside which `analyze watch` runs for some seconds and does not for some, by
turns, and compares the processor time that the recorder's threads take for each event that they store. Processes of the same program
differ more than what is looked for. The time is taken when a transaction has just become visible, so that whole ones are compared. Then
looks once at finished files of several sizes: what a look costs is to depend on the last seconds, not on the length of the file.
"""
import argparse
import json
import os
import pathlib
import random
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
WARM_UP_S = 5


def begin_program(folder, arguments):
    step_us = round(1e6 * 2 * KERNELS / arguments.events)
    steps = round((2 * arguments.rounds * (arguments.seconds + 2) + 2 * WARM_UP_S) * 1e6 / step_us)
    fake = arguments.build / "fake_gpu" / "cuda13"
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LD_LIBRARY_PATH": str(fake),
                   "LD_PRELOAD": str(arguments.build / "lib" / "libtraceinject.so")}
    flags = ["--steps", steps, "--kernels", KERNELS, "--kernel-us", "2", "--step-us", step_us, "--nvtx"]
    return subprocess.Popen([fake / "fake_train", *map(str, flags)], cwd=folder, env=environment, stdout=subprocess.DEVNULL)


class Recorder:
    """The library's threads in a running program."""

    def __init__(self, process, path):
        self.tasks = pathlib.Path(f"/proc/{process.pid}/task")
        self.run = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def cpu_ns(self):
        return sum(int((task / "schedstat").read_text().split()[0]) for task in self.tasks.iterdir()
                   if (task / "comm").read_text().startswith("traceinject"))

    def mark(self):
        """Processor time and events stored, as the next transaction becomes visible."""
        def version():
            return self.run.execute("PRAGMA data_version").fetchone()[0]
        before = version()
        while version() == before:
            time.sleep(0.005)
        return self.cpu_ns(), sum(self.run.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] for table in ("kernel", "api"))


def watch(folder, build):
    return subprocess.Popen([build / "bin" / "analyze", "watch", "run.db", "--format", "json"], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)


def pictures_of(process):
    process.send_signal(signal.SIGINT)
    return [json.loads(line) for line in process.communicate(timeout=60)[0].splitlines()]


def measure(recorder, folder, arguments):
    """{watched: [nanoseconds an event]}, a value a round, and the pictures of the watch."""
    cost, pictures = {False: [], True: []}, []
    for number in range(arguments.rounds):
        for watched in ((False, True) if number % 2 == 0 else (True, False)):
            beside = watch(folder, arguments.build) if watched else None
            cpu_ns, stored = recorder.mark()
            time.sleep(arguments.seconds)
            then_ns, then_stored = recorder.mark()
            if beside is not None:
                pictures += pictures_of(beside)
            cost[watched].append((then_ns - cpu_ns) / (then_stored - stored))
        print(f"  round {number + 1}: {cost[False][-1]:.1f} ns an event alone, {cost[True][-1]:.1f} watched", flush=True)
    return cost, pictures


def interval(values, rounds=4000):
    draw = random.Random(1)
    drawn = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(rounds))
    return drawn[int(0.025 * rounds)], drawn[int(0.975 * rounds)]


def compare(folder, arguments):
    print(f"{arguments.rounds} rounds of {arguments.seconds:g} s each, {arguments.events:,} events a second asked for")
    program = begin_program(folder, arguments)
    begun = time.monotonic()
    time.sleep(WARM_UP_S)
    cost, pictures = measure(Recorder(program, folder / "run.db"), folder, arguments)
    if program.wait() != 0:
        sys.exit(f"the program ended with {program.returncode}")
    took_s = time.monotonic() - begun
    run = sqlite3.connect(folder / "run.db")
    events = sum(run.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("kernel", "api", "nvtx"))
    dropped = sum(value for counter, value in run.execute("SELECT counter, value FROM health") if counter in ("dropped", "exhausted"))
    run.close()
    added = [100 * (w / a - 1) for a, w in zip(cost[False], cost[True])]
    low, high = interval(added)
    print(f"{events:,} events, {events / took_s:,.0f} a second; dropped: {dropped}")
    print(f"recorder: {statistics.median(cost[False]):.1f} ns an event alone, {statistics.median(cost[True]):.1f} watched; "
          f"added {statistics.median(added):+.2f} % ({low:+.2f} to {high:+.2f}, 95 % interval of the median over rounds)")
    late_ms = [line["late_ns"] / 1e6 for line in pictures if not line["ended"]]
    age_ms = [(line["time_unix_ns"] - line["recorded_until_unix_ns"]) / 1e6 for line in pictures if not line["ended"]]
    window_s = [line["window_ns"] / 1e9 for line in pictures if not line["ended"]]
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
    parser.add_argument("--seconds", type=float, default=15, help="with it, and as long without, a round")
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
