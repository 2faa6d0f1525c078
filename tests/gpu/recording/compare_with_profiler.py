#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a recording with torch.profiler's trace of another run of the same deterministic program.

The two never run at the same time: the profiler is a witness, and the yardstick is what the program does in each step. A kernel
or copy belongs to the step whose host range ("step N") contains the call that launched it, in both sources. Compared are

  * kernels in every step, in total and by name, and copies by direction and size: equal
  * time by kernel name, for names with at least 1 % of the kernel time: within 5 %
  * NCCL calls and bytes in every step against the program's own log: equal (--issued)

A collective's kernel also waits for the other ranks, which is no property of the program. Its time is therefore compared as the
shortest over the ranks, operation by operation, once for all ranks; the raw times are printed beside it.

Give one value for each rank, in the order of ranks, to --run-db, --profile and --issued.
"""

import argparse
import collections
import json
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks  # noqa: E402
from run_db import Copy, Kernel, RunDb, Steps, demangle, step_number  # noqa: E402

TIME_TOLERANCE = 0.05
SHARE_THRESHOLD = 0.01
# CUpti_ActivityMemcpyKind as the profiler words it.
COPY_KINDS = {1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 9: "HtoH", 10: "PtoP"}


class ProfilerTrace:
    """The Chrome JSON that torch.profiler exports: times in microseconds."""

    def __init__(self, path):
        with open(path) as file:
            events = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
        by_category = collections.defaultdict(list)
        for event in events:
            by_category[event.get("cat")].append(event)
        self.steps = Steps((event["ts"], event["ts"] + event["dur"], step_number(event["name"]))
                           for event in by_category["user_annotation"] if step_number(event["name"]) is not None)
        # A runtime call and the driver call nested in it share the id: the outer one begins first.
        self.launches = {}
        for event in by_category["cuda_runtime"] + by_category["cuda_driver"]:
            correlation = event["args"].get("correlation")
            if correlation is not None:
                self.launches[correlation] = min(event["ts"], self.launches.get(correlation, event["ts"]))
        self.kernels = sorted((Kernel(demangle(event["name"]), round(event["ts"] * 1e3), round(event["dur"] * 1e3),
                                      self.step_of(event)) for event in by_category["kernel"]), key=lambda k: k.start_ns)
        self.copies = [Copy(event["name"].split()[1], event["args"].get("bytes"), self.step_of(event))
                       for event in by_category["gpu_memcpy"]]

    def step_of(self, event):
        launch = self.launches.get(event["args"].get("correlation"))
        return None if launch is None else self.steps.at(launch)


class Recording:
    """The same columns from a run.db."""

    def __init__(self, path):
        database = RunDb(path)
        self.steps = database.steps()
        self.kernels = database.kernels()
        self.copies = [copy._replace(kind=COPY_KINDS.get(copy.kind, str(copy.kind))) for copy in database.copies()]
        self.collectives = database.collectives()


def in_steps(rows):
    return [row for row in rows if row.step is not None]


def by_step(rows, key):
    """{step: Counter of key(row)}."""
    found = collections.defaultdict(collections.Counter)
    for row in in_steps(rows):
        found[row.step][key(row)] += 1
    return dict(found)


def is_nccl(name):
    return name.startswith("nccl")


def short(name, width=64):
    """A kernel name without its template arguments' inside, cut in the middle."""
    return name if len(name) <= width else f"{name[:width // 2 - 2]}...{name[-(width // 2 - 1):]}"


def span(values):
    low, high = min(values, default=0), max(values, default=0)
    return str(low) if low == high else f"{low} to {high}"


def first_difference(ours, theirs):
    """Words for the first key of the first step that differs."""
    for step in sorted(set(ours) | set(theirs)):
        left, right = ours.get(step, {}), theirs.get(step, {})
        for key in sorted(set(left) | set(right), key=str):
            if left.get(key, 0) != right.get(key, 0):
                return f"step {step}: {left.get(key, 0)} recorded, {right.get(key, 0)} in the profile of {short(str(key))}"
    return ""


def check_steps(checks, ours, theirs, expected):
    left, right = ([number for _, _, number in side.steps.ranges] for side in (ours, theirs))
    checks.add("steps found", left == right == list(range(expected)),
               f"{len(left)} recorded, {len(right)} in the profile, {expected} expected")


def check_counts(checks, ours, theirs):
    left, right = by_step(ours.kernels, lambda k: "kernels"), by_step(theirs.kernels, lambda k: "kernels")
    a, b = ([counter["kernels"] for counter in side.values()] for side in (left, right))
    checks.add("kernels per step", bool(a) and left == right,
               f"{span(a)} recorded, {span(b)} in the profile, {sum(a)} and {sum(b)} in all", recorded=sum(a), profile=sum(b))
    left, right = by_step(ours.kernels, lambda k: k.name), by_step(theirs.kernels, lambda k: k.name)
    names = {name for counter in left.values() for name in counter}
    checks.add("kernels per step and name", bool(left) and left == right,
               f"{len(names)} names" if left == right else first_difference(left, right), names=len(names))
    left, right = (by_step(side.copies, lambda c: (c.kind, c.bytes)) for side in (ours, theirs))
    checks.add("copies per step, direction and size", bool(left) and left == right,
               f"{sum(sum(c.values()) for c in left.values())} copies" if left == right else first_difference(left, right))


def time_by_name(kernels):
    total = collections.Counter()
    for kernel in in_steps(kernels):
        total[kernel.name] += kernel.dur_ns
    return total


def relative(ours, theirs):
    return ours / theirs - 1 if theirs else float("inf")


def check_times(checks, ours, theirs, judged):
    left, right = time_by_name(ours.kernels), time_by_name(theirs.kernels)
    everything = sum(right.values())
    table = [{"name": name, "share": right[name] / everything, "recorded_ns": left[name], "profile_ns": right[name],
              "difference": relative(left[name], right[name])}
             for name, total in right.most_common() if total >= SHARE_THRESHOLD * everything]
    compute = [row for row in table if not is_nccl(row["name"])]
    worst = max(compute, key=lambda row: abs(row["difference"]), default=None)
    passed = worst is not None and abs(worst["difference"]) <= TIME_TOLERANCE
    if judged:
        checks.add("time per kernel name", passed, "no kernels" if worst is None else
                   f"{len(compute)} names above 1 %, largest difference {worst['difference']:+.2%} ({short(worst['name'])})",
                   table=table)
    for row in table:
        suffix = "; contains waiting for other ranks, not judged" if is_nccl(row["name"]) else ""
        checks.note("time of a name", f"{row['share']:6.2%} of kernel time, recorded {row['recorded_ns'] / 1e6:.3f} ms, "
                                      f"profile {row['profile_ns'] / 1e6:.3f} ms, {row['difference']:+.2%}: {short(row['name'])}{suffix}")


def check_issued(checks, ours, theirs, path):
    with open(path) as file:
        issued = {entry["step"]: [(c["function"], c["bytes"]) for c in entry["collectives"]] for entry in json.load(file)["steps"]}
    recorded = collections.defaultdict(list)
    for collective in in_steps(ours.collectives):
        recorded[collective.step].append((collective.function, collective.bytes))
    calls, size = sum(map(len, issued.values())), sum(b for step in issued.values() for _, b in step)
    got_calls, got_size = sum(map(len, recorded.values())), sum(b for step in recorded.values() for _, b in step)
    checks.add("NCCL calls and bytes in every step", calls > 0 and dict(recorded) == issued,
               f"{got_calls} calls and {got_size} bytes recorded, {calls} calls and {size} bytes issued in {len(issued)} steps",
               recorded_calls=got_calls, recorded_bytes=got_size, issued_calls=calls, issued_bytes=size)
    kernels = [sum(is_nccl(k.name) for k in in_steps(side.kernels)) for side in (ours, theirs)]
    checks.add("NCCL kernels", kernels[0] == kernels[1] > 0, f"{kernels[0]} recorded, {kernels[1]} in the profile")


def shortest_over_ranks(sides):
    """Sum over the operations, matched by their order, of the shortest kernel on any rank. None if the ranks do not match."""
    sequences = [[(k.step, k.name, k.dur_ns) for k in in_steps(side.kernels) if is_nccl(k.name)] for side in sides]
    if not sequences[0] or any([op[:2] for op in s] != [op[:2] for op in sequences[0]] for s in sequences):
        return None
    return sum(min(op[2] for op in operations) for operations in zip(*sequences))


def check_transfer(checks, ours, theirs, judged):
    left, right = shortest_over_ranks(ours), shortest_over_ranks(theirs)
    if left is None or right is None:
        checks.add("NCCL time, shortest over ranks", False, "the ranks did not run the same NCCL kernels in the same order")
        return
    text = f"recorded {left / 1e6:.3f} ms, profile {right / 1e6:.3f} ms, {relative(left, right):+.2%}"
    if judged:
        checks.add("NCCL time, shortest over ranks", abs(relative(left, right)) <= TIME_TOLERANCE, text,
                   recorded_ns=left, profile_ns=right)
    else:
        checks.note("NCCL time, shortest over ranks", text)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run-db", nargs="+", required=True, metavar="RUN.DB")
    parser.add_argument("--profile", nargs="+", required=True, metavar="PROFILE.JSON")
    parser.add_argument("--issued", nargs="*", default=[], metavar="ISSUED.JSON", help="as written by transformer.py --issued")
    parser.add_argument("--steps", type=int, required=True, help="measured steps of the program")
    parser.add_argument("--overlapping", action="store_true",
                        help="communication runs beside compute: the two slow each other down as they happen to meet, which "
                             "differs from run to run, so times are printed but not judged")
    parser.add_argument("--checks", required=True, metavar="FILE", help="outcomes are appended here")
    parser.add_argument("--part", required=True, help="name of this comparison in the outcomes")
    options = parser.parse_args()
    if len(options.run_db) != len(options.profile) or (options.issued and len(options.issued) != len(options.run_db)):
        parser.error("give as many profiles (and logs of collectives) as recordings")
    return options


def main():
    options = parse_options()
    several = len(options.run_db) > 1
    pairs = [(Recording(run_db), ProfilerTrace(profile)) for run_db, profile in zip(options.run_db, options.profile)]
    for rank, (ours, theirs) in enumerate(pairs):
        checks = Checks(options.checks, f"{options.part} rank {rank}" if several else options.part)
        check_steps(checks, ours, theirs, options.steps)
        check_counts(checks, ours, theirs)
        check_times(checks, ours, theirs, not options.overlapping)
        if options.issued:
            check_issued(checks, ours, theirs, options.issued[rank])
    if several:
        check_transfer(Checks(options.checks, options.part), *zip(*pairs), not options.overlapping)


if __name__ == "__main__":
    main()
