# SPDX-License-Identifier: Apache-2.0
"""What soak.sh runs: a program on the fake GPU without the library, then with it, looked at all the time; a table and PASS or FAIL.

What is done on the fake GPU alone stands in FakeGpu: tests/gpu/soak.py does the same on a real one.
"""

import argparse
import itertools
import math
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS_A_SECOND = 10  # each has names of its own, which are remembered up to a limit
PLAIN_S = 20  # memory without the library is flat from the first second on
WARM_UP_S = 60
SAMPLES_A_SECOND = 5  # rows are decoded into memory once a second, and let go
MOST_RESIDENT_MB = 150
MOST_GROWTH_KB_A_MINUTE = 100
LEAST_RATE = 0.95
MOST_CPU_GROWTH = 1.1  # last third over first, beside the program's own CPU, since a busy machine slows both down
LOSSES = ("dropped", "exhausted", "refused", "errors", "damaged", "max_size", "failed")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class FakeGpu:
    def __init__(self, build, rate):
        self.build, self.rate = build.resolve(), rate

    def program(self, seconds):
        # A launch gives a record of the kernel and one of the call.
        kernels = self.rate // STEPS_A_SECOND // 2
        return [self.build / "fake_gpu" / "cuda13" / "fake_train",
                "--steps", str(int(seconds * STEPS_A_SECOND)), "--step-us", str(1_000_000 // STEPS_A_SECOND),
                "--kernels", str(kernels), "--kernel-us", "1", "--nvtx", "--events", "--memcpy",
                "--sync-every", "200"]  # so that the queue of the thread is filled, and all of its memory touched, within the first minute

    def environment(self, preload):
        env = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(self.build / "fake_gpu" / "cuda13"), "TRACEINJECT_MAX_SIZE": "1T"}
        if preload:
            env["LD_PRELOAD"] = str(self.build / "lib" / "libtraceinject.so")
        return env


def resident_bytes(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def cpu_seconds(pid):
    """Of the library's own threads, and of the program's."""
    total = {True: 0.0, False: 0.0}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        total[(task / "comm").read_text().startswith("traceinject")] += (int(fields[11]) + int(fields[12])) * TICK_S
    return total[True], total[False]


def file_bytes(folder):
    return sum(path.stat().st_size for path in folder.iterdir() if path.name.startswith("run.db"))


def sample(process, folder, report):
    """(seconds, resident bytes, CPU seconds of the library and of the program, file bytes), until the program ends."""
    begin, samples = time.monotonic(), []
    while process.poll() is None:
        try:
            samples.append((time.monotonic() - begin, resident_bytes(process.pid), *cpu_seconds(process.pid), file_bytes(folder)))
        except (FileNotFoundError, ProcessLookupError, IndexError):  # it ends just now
            break
        if len(samples) > 1 and samples[-1][2] < samples[-2][2]:  # the library's threads have ended, and the rest goes, which may take long
            samples.pop()
            break
        if report and len(samples) % (30 * SAMPLES_A_SECOND) == 0:
            seconds, resident, _, _, file = samples[-1]
            print(f"  {seconds:6.0f} s  resident {resident / 1e6:7.1f} MB  file {file / 1e6:8.1f} MB", file=sys.stderr)
        time.sleep(max(0.0, begin + len(samples) / SAMPLES_A_SECOND - time.monotonic()))
    process.wait()
    return samples


def play(gpu, seconds, folder, preload):
    with subprocess.Popen(gpu.program(seconds), cwd=folder, env=gpu.environment(preload), stdout=subprocess.DEVNULL) as process:
        samples = sample(process, folder, preload)
    if process.returncode != 0:
        sys.exit(f"the program ended with {process.returncode}")
    return samples


def slope(points, spans=20):
    """(slope, ends of its 95 % interval) of y over x, by the least of so many spans of time: what is held between flushes.

    Buffers come and go in pieces of megabytes, so the slope is the median of those between any two spans (Theil and Sen): a piece more
    in some spans does not show, one that grows does. Interval after Hollander and Wolfe, Nonparametric Statistical Methods, 9.3.
    """
    floors = []
    for i in range(spans):
        span = points[i * len(points) // spans:(i + 1) * len(points) // spans]
        floors.append((statistics.fmean(x for x, _ in span), min(y for _, y in span)))
    slopes = sorted((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in itertools.combinations(floors, 2))
    off_middle = 1.96 * math.sqrt(spans * (spans - 1) * (2 * spans + 5) / 18)
    first = max(0, round((len(slopes) - off_middle) / 2))
    return statistics.median(slopes), slopes[first], slopes[len(slopes) - 1 - first]


def cpu(samples):
    """What a core gives the library and the program, as shares, between the first and the last sample."""
    seconds = samples[-1][0] - samples[0][0]
    return [(samples[-1][i] - samples[0][i]) / seconds for i in (2, 3)]


def read_health(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    counters = {f"{source}.{counter}": value for source, counter, value in database.execute("SELECT source, counter, value FROM health")}
    (duration,) = database.execute("SELECT (max(start) - min(start)) / 1e9 FROM kernel").fetchone()
    database.close()
    return counters, duration


def check(name, passed, words):
    print(f"{'PASS' if passed else 'FAIL'}  {name}: {words}")
    return passed


def report(plain, samples, counters, duration, rate):
    without = statistics.median(sample[1] for sample in plain[len(plain) // 2:])  # a program takes more while it starts
    late = [(sample[0], sample[1] - without) for sample in samples if sample[0] >= WARM_UP_S]
    most = max(y for _, y in late)
    growth, low, high = (60 / 1000 * value for value in slope(late))
    third = len(samples) // 3
    first, last = (own_share / program_share for own_share, program_share in (cpu(samples[:third]), cpu(samples[-third:])))
    records = counters["kernel.seen"] + counters["api.seen"] + counters["memcpy.seen"]
    events = records + counters["sync.seen"] + counters["nvtx.seen"]
    lost = {name: value for name, value in counters.items() if name.rpartition(".")[2] in LOSSES and value != 0}
    rows = [("seconds", f"{duration:.0f}"), ("records a second", f"{records / duration:.0f} (at least: {LEAST_RATE * rate:.0f})"), ("events", events),
            ("resident without the library", f"{without / 1e6:.1f} MB"), ("added by it, at most", f"{most / 1e6:.1f} MB"),
            ("growth after the first minute", f"{growth:+.1f} ({low:+.1f} to {high:+.1f}) KB a minute"),
            ("CPU of its threads", f"{100 * cpu(samples)[0]:.1f} % of a core; of what the program takes: {100 * first:.1f} % in the first "
             f"third, {100 * last:.1f} % in the last"),
            ("file", f"{counters['file.bytes'] / 1e6:.0f} MB, {counters['file.bytes'] / events:.1f} bytes an event"),
            ("longest flush", f"{counters['writer.flush_max_us'] / 1000:.0f} ms"), ("most buffers in use", counters["buffers.peak"]),
            ("load of the machine", "%.1f %.1f %.1f" % os.getloadavg())]
    print("| figure | value |\n| --- | --- |")
    for name, value in rows:
        print(f"| {name} | {value} |")
    return all([
        check("rate", records / duration >= LEAST_RATE * rate, f"at least {LEAST_RATE * rate:.0f} records a second"),
        check("memory", most <= MOST_RESIDENT_MB * 1e6,
              f"at most {MOST_RESIDENT_MB} MB (CUPTI's own counts, too)"),
        check("growth", high <= MOST_GROWTH_KB_A_MINUTE, f"its interval ends below {MOST_GROWTH_KB_A_MINUTE} KB a minute"),
        check("CPU", last <= MOST_CPU_GROWTH * first, f"the last third takes at most {MOST_CPU_GROWTH} times what the first does"),
        check("losses", not lost, str(lost or "none"))])


def soak(gpu, minutes, rate, parent):
    """Exit code."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-soak-", dir=parent))
    try:
        plain = play(gpu, PLAIN_S, folder, preload=False)
        samples = play(gpu, minutes * 60, folder, preload=True)
        counters, duration = read_health(folder / "run.db")
        return 0 if report(plain, samples, counters, duration, rate) else 1
    finally:
        shutil.rmtree(folder)


def add_options(parser, minutes):
    parser.add_argument("--minutes", type=float, default=minutes)
    parser.add_argument("--folder", type=pathlib.Path, default=None)


def parse(parser):
    options = parser.parse_args()
    if options.minutes * 60 < WARM_UP_S + 30:
        parser.error("--minutes: at least 1.5, since the first minute does not count")
    return options


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, minutes=20)
    parser.add_argument("--rate", type=int, default=200_000)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = parse(parser)
    return soak(FakeGpu(options.build, options.rate), options.minutes, options.rate, options.folder)


if __name__ == "__main__":
    sys.exit(main())
