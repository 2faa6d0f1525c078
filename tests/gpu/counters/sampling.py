#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hardware counters on a real GPU, see sampling.sh.

  sampling.py check --library LIB --analyze ANALYZE --out OUT [--part PART]... [--pairs N] [--seconds S] [--interval-us US] [--program COMMAND]
  sampling.py program [--seconds S] [--phase PHASE]...      the program that is recorded; prints its phases as JSON
"""

import argparse
import bisect
import json
import math
import os
import pathlib
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks, full_path, summary  # noqa: E402
from counter_samples import read_samples, read_sets  # noqa: E402

SETS = ("full", "compute", "pipes", "basic")
SIZE = 8192  # of the products
# The 97.5 % points of Student's distribution for 1, 2, ... degrees of freedom.
STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
# Of a rate beside which tensor activity is held: clocks below their peak, and what a kernel does besides, take their part.
TENSOR_TOLERANCE = 0.10
PROGRAM_LIMIT_S = 240
BUDGET = 0.005  # of a core, for reading what `auto` samples
BETWEEN_BURSTS_NS = 500_000_000
LEAST_LAUNCHES = 20  # of a kernel, for their mean
PARTS = ("sets", "cost", "samples")
PHASES = ("products", "memory", "rest")


def play(seconds, chosen):
    """Products, copies in device memory and rest, or what is chosen of them, twice; one JSON object on the last line."""
    import torch
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16)
    source = torch.empty(1 << 28, device="cuda", dtype=torch.float32)
    target = torch.empty_like(source)
    phases = []

    def phase(name, work, per_call):
        for _ in range(3):
            work()
        torch.cuda.synchronize()
        start, calls = time.time_ns(), 0
        while time.time_ns() - start < seconds * 1e9:
            for _ in range(10):
                work()
            calls += 10
            torch.cuda.synchronize()
        end = time.time_ns()
        phases.append({"name": name, "start": start, "end": end, "amount": calls * per_call, "rate": calls * per_call / (end - start) * 1e9})
    # Counters have begun by then: a trial of a set takes a second or two.
    warm = time.time()
    while time.time() - warm < 5:
        torch.mm(a, b)
        torch.cuda.synchronize()
        time.sleep(0.02)

    def rest():
        start = time.time_ns()
        time.sleep(seconds)
        phases.append({"name": "rest", "start": start, "end": time.time_ns(), "amount": 0, "rate": 0})

    plays = {"products": lambda: phase("products", lambda: torch.mm(a, b), 2 * SIZE ** 3),
             "memory": lambda: phase("memory", lambda: target.copy_(source), 2 * source.numel() * source.element_size()), "rest": rest}
    for name in 2 * (chosen or PHASES):
        plays[name]()
    print(json.dumps({"phases": phases}), flush=True)


class Recorded:
    """One run of the program: what it printed, how long it took, and what was recorded."""

    def __init__(self, options, name, settings):
        self.path = options.out / f"{name}.db"
        for left in options.out.glob(f"{name}.db*"):
            left.unlink()
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TRACEINJECT")}
        environment |= {"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": str(self.path), **settings}
        command = options.program or [sys.executable, __file__, "program", "--seconds", str(options.seconds)]
        begin = time.monotonic()
        with open(options.out / f"{name}.log", "w") as log:
            ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True, timeout=PROGRAM_LIMIT_S)
        self.wall_s, self.code = time.monotonic() - begin, ended.returncode
        self.phases = []
        for line in ended.stdout.splitlines():
            if line.startswith("{"):
                self.phases = json.loads(line)["phases"]

    def open(self):
        return sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)

    def health(self):
        with self.open() as database:
            return {counter: (value, detail) for counter, value, detail in
                    database.execute("SELECT counter, value, detail FROM health WHERE source = 'counter_sample'")}

    def rate(self, name):
        """Of all phases of a name; without phases, how much of the program a second is."""
        rates = [phase["rate"] for phase in self.phases if phase["name"] == name]
        return statistics.mean(rates) if rates else 1 / self.wall_s


def interval(values):
    """Mean, and half the 95 % interval of it."""
    if len(values) < 2:
        return values[0], math.inf
    student = STUDENT[min(len(values) - 2, len(STUDENT) - 1)]
    return statistics.mean(values), student * statistics.stdev(values) / math.sqrt(len(values))


def mean_inside(samples, position, phases, base):
    """Of one counter, in permille, weighted by time, of samples that lie in the phases; None: there is no such."""
    inside = [(sample.end - sample.start, sample.values[position]) for sample in samples for phase in phases
              if sample.start + base >= phase["start"] and sample.end + base <= phase["end"] and sample.values[position] >= 0]
    time_ns = sum(length for length, _ in inside)
    return sum(length * value for length, value in inside) / time_ns if time_ns else None


def judge_samples(checks, recorded):
    """Samples expected and got, gaps, activity by phase. Returns what the counters say of each phase."""
    with recorded.open() as database:
        base = database.execute("SELECT value FROM meta WHERE key = 'base_ns'").fetchone()[0]
        sets, samples = read_sets(database), read_samples(database)
    if not sets or not samples:
        checks.add("samples", False, f"there are none: {recorded.health()}")
        return {}
    source, name, period, counters = sets[-1]
    span = samples[-1].end - samples[0].start
    missing = [after.start - before.end for before, after in zip(samples, samples[1:]) if after.start - before.end > period / 2]
    lengths = [sample.end - sample.start for sample in samples]
    checks.add("samples", len(samples) >= 0.98 * span / period,
               f"{source}, set {name}: {len(samples)} of {span / period:.0f} in {span / 1e9:.2f} s, each {statistics.median(lengths) / 1e3:.1f} us "
               f"(asked for: {period / 1e3:.1f}), {len(missing)} gaps of {sum(missing) / 1e6:.2f} ms together",
               samples=len(samples), expected=span / period, gaps=len(missing), gap_ms=sum(missing) / 1e6)
    checks.note("reading all samples", told_cost(recorded, span))
    found = {}
    for phase in sorted({phase["name"] for phase in recorded.phases}):
        means = {counter: mean_inside(samples, position, [one for one in recorded.phases if one["name"] == phase], base)
                 for position, counter in enumerate(counters)}
        found[phase] = means
        checks.note(phase, ", ".join(f"{counter} {'unknown' if value is None else f'{value / 10:.1f} %'}" for counter, value in means.items()),
                    means=means)
    return found


def told_cost(recorded, span):
    health = recorded.health()
    read_us, cpu_us = (health.get(name, (0, None))[0] for name in ("read_cpu_us", "cpu_us"))
    return f"{read_us / 1e3:.1f} ms of CPU in {span / 1e9:.2f} s, {read_us * 1e5 / span:.3f} % of a core; {(cpu_us - read_us) / 1e3:.1f} ms before it and besides"


def judge_bursts(checks, recorded):
    """What `auto` costs. The last burst has its rest yet to come."""
    with recorded.open() as database:
        samples, period = read_samples(database), read_sets(database)[-1][2]
        lasted = database.execute("SELECT max(start + dur) FROM kernel").fetchone()[0] - samples[0].start
    bursts = recorded.health().get("bursts", (0, None))[0]
    read_us = recorded.health().get("read_cpu_us", (0, None))[0]
    sampled = sum(sample.end - sample.start for sample in samples)
    checks.add("bursts", bursts >= 1 and read_us * 1e3 * (bursts - 1) / bursts <= BUDGET * lasted,
               f"{bursts} with {len(samples)} samples of {period / 1e3:.0f} us, {sampled / lasted:.1%} of the time; {told_cost(recorded, lasted)}",
               bursts=bursts, read_us=read_us)


def launches_of_most(database):
    """Starts of all launches of the kernel that takes the most time, in order; as samples, relative to the recording's base."""
    name = database.execute("SELECT h.name FROM kernel k JOIN kernel_shape h ON h.id = k.shape GROUP BY h.name ORDER BY sum(k.dur) DESC LIMIT 1").fetchone()[0]
    return [row[0] for row in database.execute("SELECT k.start FROM kernel k JOIN kernel_shape h ON h.id = k.shape WHERE h.name = ? ORDER BY k.start", (name,))]


def bursts_of(samples):
    """Start and end of each stretch of samples without a gap that shows."""
    bursts = []
    for sample in samples:
        if bursts and sample.start - bursts[-1][1] < BETWEEN_BURSTS_NS:
            bursts[-1][1] = sample.end
        else:
            bursts.append([sample.start, sample.end])
    return bursts


def periods_beside(starts, burst):
    """From one launch of a kernel to its next, in us: those inside a burst, and as many at most before it and after it."""
    first, last = bisect.bisect_left(starts, burst[0]), bisect.bisect_right(starts, burst[1])
    count = last - first
    periods = [(after - before) / 1e3 for before, after in zip(starts, starts[1:])]
    inside, beside = periods[first:max(first, last - 1)], periods[max(0, first - 1 - count):max(0, first - 1)] + periods[last:last + count]
    # Where the program pauses, and where it waits for the GPU before it goes on.
    usual = 1.5 * statistics.median(periods)
    return [one for one in inside if one < usual], [one for one in beside if one < usual]


def judge_steps_in_bursts(checks, runs):
    """The kernel that takes the most time, one launch after the other, while samples are taken and beside."""
    differences = []
    for recorded in runs:
        with recorded.open() as database:
            launches, bursts = launches_of_most(database), bursts_of(read_samples(database))
        for burst in bursts:
            inside, beside = periods_beside(launches, burst)
            if min(len(inside), len(beside)) >= LEAST_LAUNCHES:
                differences.append(100 * (statistics.fmean(inside) / statistics.fmean(beside) - 1))
    if not differences:
        return checks.skip("launches in bursts", "no burst came while that kernel ran")
    mean, half = interval(differences)
    checks.note("launches in bursts", f"{mean:+.3f} % (95 %: {mean - half:+.3f} to {mean + half:+.3f}) from one to the next over those beside, "
                f"in {len(differences)} bursts", mean=mean, half=half, bursts=len(differences))


def judge_products(checks, options, recorded, found):
    """Tensor activity is the share of the peak at the clock of the moment: FLOPs by time and published peak are at most that."""
    report = json.loads(subprocess.run([options.analyze, recorded.path, "--format", "json"], stdout=subprocess.PIPE, text=True).stdout or "{}")
    peaks = (report.get("devices") or [{}])[0].get("peaks", {})
    means = found.get("products", {})
    active = means.get("tensor_hmma_active") or means.get("tensor_active")
    dense = options.peak_tflops or peaks.get("bf16_tflops")
    if not active or not dense:
        return checks.skip("products", f"tensor activity {active}, peak {dense}")
    share = recorded.rate("products") / (dense * 1e12)
    clock = (report["devices"][0].get("telemetry") or {}).get("busy_sm_clock_mhz")
    scale = options.peak_clock_mhz / clock if clock else 1
    difference = active / 1000 - share * scale
    checks.add("products", abs(difference) <= TENSOR_TOLERANCE,
               f"tensor active {active / 10:.1f} %; {recorded.rate('products') / 1e12:.0f} TFLOP/s of {dense} is {share:.1%}, at the clock of the run "
               f"{share * scale:.1%}", active=active / 1000, share=share, scaled=share * scale)


def list_sets(checks, options):
    """Each set by itself, with nothing remembered from before."""
    for name in SETS:
        cache = options.out / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        recorded = Recorded(options, f"set_{name}", {"TRACEINJECT_COUNTERS": name, "XDG_CACHE_HOME": str(cache)})
        health = recorded.health()
        with recorded.open() as database:
            sets = read_sets(database)
        taken = any(source == "pm_sampling" and of == name for source, of, _, _ in sets)
        chip = "; ".join(path.name for path in cache.glob("traceinject/counters/*"))
        text = f"taken ({len(sets[-1][3])} counters, {chip})" if taken else (health.get("failed") or (0, "no reason"))[1]
        checks.note(f"set {name}", text, taken=taken)


def compare(checks, options):
    """With counters and without, by turns; the first pair warms up and does not count."""
    differences, runs = {}, []
    for pair in range(options.pairs + 1):
        arms = {}
        for arm in ("on", "off") if pair % 2 else ("off", "on"):
            arms[arm] = Recorded(options, f"{arm}_{pair}", {"TRACEINJECT_COUNTERS": "auto" if arm == "on" else "0",
                                                           "TRACEINJECT_COUNTERS_US": options.interval_us})
        runs.append(arms["on"])
        for arm, recorded in arms.items():
            checks.add(f"pair {pair} {arm}", recorded.code == 0, f"exit code {recorded.code}, {recorded.wall_s:.1f} s")
        names = sorted({phase["name"] for phase in runs[-1].phases if phase["rate"]}) or ["program"]
        for name in names if pair else ():
            differences.setdefault(name, []).append(100 * (arms["off"].rate(name) / arms["on"].rate(name) - 1))
    for name, values in differences.items():
        mean, half = interval(values)
        checks.note(f"cost of {name}", f"{mean:+.2f} % (95 %: {mean - half:+.2f} to {mean + half:+.2f})", mean=mean, half=half)
    judge_bursts(checks, runs[-1])
    judge_steps_in_bursts(checks, runs)


def all_samples(checks, options):
    recorded = Recorded(options, "all_samples", {"TRACEINJECT_COUNTERS": "1", "TRACEINJECT_COUNTERS_US": options.interval_us})
    found = judge_samples(checks, recorded)
    if found:
        judge_products(checks, options, recorded, found)


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    outcomes = options.out / "outcomes.jsonl"
    outcomes.write_text("")
    checks = Checks(outcomes, "counters")
    for part, judged in zip(PARTS, (list_sets, compare, all_samples)):
        if part in (options.part or PARTS):
            judged(checks, options)
    return summary(outcomes, options.out / "results.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    playing = commands.add_parser("program")
    playing.add_argument("--seconds", type=float, default=2)
    playing.add_argument("--phase", action="append", choices=PHASES, help="may be repeated (default: all)")
    checking = commands.add_parser("check")
    for name in ("library", "analyze", "out"):
        checking.add_argument(f"--{name}", type=full_path, required=True)
    checking.add_argument("--part", action="append", choices=PARTS, help="may be repeated (default: all)")
    checking.add_argument("--pairs", type=int, default=5, help="processes with counters, and as many without (default: 5)")
    checking.add_argument("--seconds", type=float, default=2, help="of each phase of the program (default: 2)")
    checking.add_argument("--interval-us", default="auto", help="TRACEINJECT_COUNTERS_US (default: auto)")
    checking.add_argument("--peak-tflops", type=float, help="dense bf16 rate of the GPU (default: what analyze knows)")
    checking.add_argument("--peak-clock-mhz", type=float, default=1830, help="at which that rate is told (default: 1830, of H100 and H200)")
    checking.add_argument("--program", type=shlex.split, metavar="COMMAND", help="record this command instead")
    options = parser.parse_args()
    return play(options.seconds, options.phase) if options.command == "program" else check(options)


if __name__ == "__main__":
    sys.exit(main())
