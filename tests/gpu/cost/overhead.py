#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of a training program untraced, recorded in several ways, and under torch.profiler.

One run of one configuration is one process. Processes that are started apart differ by several per cent in a launch-bound step
(memory layout, placement), more than the differences in question; so the runs of a round are forked from a parent that has
imported PyTorch and not yet touched CUDA: one parent without the library for the untraced and profiled runs, one with LD_PRELOAD
for the recorded ones. Every round has new parents, and the order of its configurations is turned by one, so that layouts and
drifting clocks hit all of them alike. Printed are, as a Markdown table, medians over the rounds with 95 % intervals (percentile
bootstrap over rounds) of the step time, of the change against the untraced run of the same round, and of the percentage points by
which that change exceeds the one with kernels only. For a configuration that adds something to another one of the list, the
difference between the two is printed as well, in points of the untraced step of the same round.

Configurations
  untraced          no library
  default           the library with its defaults
  default+KIND,...  the same with further kinds of TRACEINJECT_KINDS, e.g. default+memory
  previous          kernels, copies, calls, NVTX, events and the Python side: without the sources that came later
  previous+SOURCE   one of those on top: gemm, nccl, telemetry
  kinds:A,B,...     the library with TRACEINJECT_KINDS=A,B,...
  idle              the library, told to wait for a start that never comes
  windows           of every 100 steps the last 2 are recorded
  windows-detached  the same, with CUPTI taken out of the process in between
  profiler-cuda     torch.profiler, CUDA activities only; no library
  profiler-cpu-cuda torch.profiler, CPU and CUDA activities; no library

Steps are timed in blocks, and the median block counts; where windows are recorded, the mean, of what they are compared with as well.
With --ranks N it is data-parallel training on N GPUs, and the step is that of rank 0.

--sources is the comparison of all sources: untraced, previous, each source alone on top, everything, and everything with the kinds
that are off by default. Results are written after every round, so that a run which is cut off leaves those of its completed rounds.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import statistics
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from fork_client import ForkServer  # noqa: E402
from rank_group import Group  # noqa: E402
from run_db import RunDb  # noqa: E402

DEFAULT_CONFIGURATIONS = ["untraced", "kinds:kernel", "default", "profiler-cuda", "profiler-cpu-cuda"]
WORKLOADS = {
    "compute": "(a) compute-bound",
    "launch-bound": "(c) launch-bound",
}
# Sources that came after `previous`: what switches each off.
SOURCES = {
    "gemm": {"TRACEINJECT_GEMM": "0"},
    "nccl": {"TRACEINJECT_NCCL": "0"},
    "telemetry": {"TRACEINJECT_TELEMETRY_HZ": "0"},
}
DEFAULT_KINDS = "kernel,memcpy,memcpy2,memset,api"  # kDefaultActivityKinds in injector/options/activity_kind_names.h
BASE = "untraced"
WINDOWS = {  # what part is recorded
    "idle": {"TRACEINJECT_WINDOW": "trigger"},
    "windows": {"TRACEINJECT_WINDOW": "every:100:2"},
    "windows-detached": {"TRACEINJECT_WINDOW": "every:100:2", "TRACEINJECT_DETACH": "1"},
}
NEVER_RECORDED = "idle"
SOURCE_CONFIGURATIONS = [BASE, "previous", *(f"previous+{source}" for source in SOURCES), "default", "default+memory",
                         "default+memory,stream"]
# What all sources together may cost over `previous`, in points of the untraced step.
LIMIT_POINTS = {"compute": 0.3, "launch-bound": 1.0}
FLOOR = "kinds:kernel"  # the least that recording kernels with CUPTI costs


def is_traced(configuration):
    return configuration != BASE and not configuration.startswith("profiler-")


def base_of(configuration):
    """The configuration that this one adds something to; None if there is none."""
    if configuration == "default":
        return "previous"
    base, plus, _ = configuration.partition("+")
    return base if plus else None


def configuration_name(text):
    base, plus, more = text.partition("+")
    known = text in (BASE, "default", "previous", "profiler-cuda", "profiler-cpu-cuda", *WINDOWS) or text.startswith("kinds:")
    if known or (base == "default" and more) or (base == "previous" and more in SOURCES):
        return text
    raise argparse.ArgumentTypeError(f"{text} is no configuration; see --help")


def environment(configuration, database):
    """What a recorded child sees on top of its parent's environment."""
    env = {"TRACEINJECT_OUTPUT": str(database)} | WINDOWS.get(configuration, {})
    if configuration.startswith("kinds:"):
        env["TRACEINJECT_KINDS"] = configuration.removeprefix("kinds:")
    base, _, more = configuration.partition("+")
    if base == "default" and more:
        env["TRACEINJECT_KINDS"] = f"{DEFAULT_KINDS},{more}"
    if base == "previous":
        for source, switch in SOURCES.items():
            env.update(switch if source != more else {})
    return env


def arguments(options, workload, configuration):
    words = ["--preset", workload, "--steps", str(options.steps), "--warmup", str(options.warmup), "--block", str(options.block),
             "--workers", "0"] + (["--ddp"] if options.ranks > 1 else [])
    if configuration.startswith("profiler-"):
        words += ["--profiler", "-", "--profiler-activities", configuration.removeprefix("profiler-").replace("-", ",")]
    return words


class Processes:
    """Runs one configuration after the other: in children of one parent, or of as many as there are ranks."""

    def __init__(self, options, library=None):
        self.ranks = options.ranks
        self.parent = ForkServer(options, library) if self.ranks == 1 else Group(options, self.ranks, library)

    def wait_until_ready(self):
        self.parent.wait_until_ready()

    def run(self, runs, environment, output):
        """One result line for each list of arguments."""
        if self.ranks == 1:
            return self.parent.run(runs, environment, output)
        return [self.parent.run(words, environment, output, self.parent.options.timeout)[-1] for words in runs]

    def stop(self):
        self.parent.stop()


def measure(options, processes, configuration, scratch):
    """A result line for each workload, with what was recorded of all. On one GPU they run in one process, one after the other."""
    clear(scratch)
    traced = is_traced(configuration)
    # A profiled program ends without coming back: each workload is a process of its own then.
    together = [[workload] for workload in options.workloads] if configuration.startswith("profiler-") else [options.workloads]
    results = []
    try:
        for workloads in together:
            results += processes.run([arguments(options, workload, configuration) for workload in workloads],
                                     environment(configuration, scratch / "run.db") if traced else {}, scratch / "output")
    except RuntimeError as error:
        raise RuntimeError(f"{configuration}: {error}") from error
    held = recorded(scratch, configuration) if traced else None
    clear(scratch)
    return [result | {"recorded": held} for result in results]


def clear(scratch):
    for path in scratch.glob("run.*"):
        path.unlink()


def recorded(scratch, configuration):
    """Row counts, of rank 0: a recording that was off would look wonderfully cheap."""
    files = sorted(scratch.glob("run*.db"))
    if configuration == NEVER_RECORDED:
        if files:
            raise RuntimeError(f"{configuration}: {files[0].name} was written")
        return None
    if not files:
        raise RuntimeError(f"{configuration}: nothing was recorded")
    run = RunDb(files[0])
    tables = ("kernel", "memcpy", "memset", "api", "sync", "gemm", "device_sample", "host_sample",
              "memory_operation")
    rows = {table: run.count(table) for table in tables}
    run.db.close()
    if rows["kernel"] == 0:
        raise RuntimeError(f"{configuration}: no kernel was recorded: {rows}")
    if configuration == "kinds:kernel" and rows["api"]:
        raise RuntimeError(f"{configuration}: {rows['api']} calls were recorded although only kernels were asked for")
    if configuration.startswith("default+memory") and not rows["memory_operation"]:
        raise RuntimeError(f"{configuration}: no allocation was recorded: {rows}")
    if configuration == "previous" and (rows["gemm"] or rows["device_sample"]):
        raise RuntimeError(f"{configuration}: a source was on that should be off: {rows}")
    return rows | {"bytes": files[0].stat().st_size}


def measure_round(options, configurations, scratch):
    """{(workload, configuration): result}"""
    processes = {False: Processes(options), True: Processes(options, options.library)}
    results = {}
    try:
        for parents in processes.values():
            parents.wait_until_ready()
        for configuration in configurations:
            for workload, result in zip(options.workloads, measure(options, processes[is_traced(configuration)], configuration, scratch)):
                results[workload, configuration] = result
                print(f"  {workload:13} {configuration:30} {result['median_step_ms']:8.3f} ms", file=sys.stderr, flush=True)
    finally:
        for parents in processes.values():
            parents.stop()
    return results


def measure_all(options, write):
    """Calls write({(workload, configuration): [result, ...]}) after each completed round."""
    results, began = collections.defaultdict(list), time.monotonic()
    scratch = pathlib.Path(options.out) / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    for number in range(options.repetitions):
        round_began = time.monotonic()
        shift = number % len(options.configuration)
        for key, result in measure_round(options, options.configuration[shift:] + options.configuration[:shift], scratch).items():
            results[key].append(result)
        write(results)
        spent, last = time.monotonic() - began, time.monotonic() - round_began
        print(f"round {number + 1}: {last:.0f} s", file=sys.stderr, flush=True)
        if number + 1 < options.repetitions and spent + last > options.budget_s:
            print(f"stopped after {number + 1} rounds: another would exceed {options.budget_s} s", file=sys.stderr)
            break
    shutil.rmtree(scratch)


def interval(rounds, statistic, seed=1, samples=10000):
    """Median and percentile-bootstrap 95 % interval of statistic(list of rounds)."""
    generator = random.Random(seed)
    draws = sorted(statistic(generator.choices(rounds, k=len(rounds))) for _ in range(samples))
    return {"median": statistic(rounds), "low": draws[int(0.025 * samples)], "high": draws[int(0.975 * samples) - 1]}


def step_ms(result, configuration):
    return statistics.mean(result["step_ms"]) if configuration in WINDOWS else result["median_step_ms"]


def changes(results, workload, configuration, figure=None):
    """Percent against the untraced run of the same round, both by the figure of a configuration (its own); empty if there was none."""
    pairs = zip(results.get((workload, configuration), []), results.get((workload, BASE), []))
    return [100 * (step_ms(mine, figure or configuration) / step_ms(base, figure or configuration) - 1) for mine, base in pairs]


def summarise(results, workload, configuration):
    runs = results[workload, configuration]
    rounds = [step_ms(result, configuration) for result in runs]
    summary = {"step_ms": interval(rounds, statistics.median), "rounds": rounds, "recorded": runs[-1]["recorded"]}
    mine, floor = (changes(results, workload, name, configuration) for name in (configuration, FLOOR))
    if mine and configuration != BASE:
        summary["change_percent"] = interval(mine, statistics.median)
    if mine and floor and configuration not in (BASE, FLOOR):
        summary["points_over_floor"] = interval([m - f for m, f in zip(mine, floor)], statistics.median)
    base = changes(results, workload, base_of(configuration), configuration)
    if mine and base:
        summary["points_over_base"] = interval([m - b for m, b in zip(mine, base)], statistics.median) | {"base": base_of(configuration)}
    return summary


def cell(summary, key, unit, sign="+"):
    value = summary.get(key)
    return f"{value['median']:{sign}.2f}{unit} ({value['low']:{sign}.2f} to {value['high']:{sign}.2f})" if value else ""


def table(workload, summaries, rounds, options):
    where = f", data-parallel on {options.ranks} GPUs" if options.ranks > 1 else ""
    lines = [f"{WORKLOADS[workload]}{where}, {options.steps} steps a run, {rounds} interleaved rounds (rows of all workloads of a process):", "",
             "| configuration | step, ms (95 %) | against untraced (95 %) | against kernels only, points (95 %) | recorded rows |",
             "|---|---|---|---|---|"]
    for configuration, summary in summaries.items():
        rows = summary["recorded"] or {}
        held = ", ".join(f"{count} {name}" for name, count in rows.items() if count and name != "bytes")
        lines.append(f"| {configuration} | {cell(summary, 'step_ms', '', '')} | {cell(summary, 'change_percent', ' %')} | "
                     f"{cell(summary, 'points_over_floor', '')} | {held} |")
    return "\n".join(lines + differences(workload, summaries))


def differences(workload, summaries):
    """What each configuration adds to the one that it builds on."""
    found = {name: summary["points_over_base"] for name, summary in summaries.items() if "points_over_base" in summary}
    if not found:
        return []
    lines = ["", "| added by | to | points of the untraced step (95 %) |", "|---|---|---|"]
    for name, added in found.items():
        lines.append(f"| {name} | {added['base']} | {added['median']:+.2f} ({added['low']:+.2f} to {added['high']:+.2f}) |")
    if "default" in found:
        limit, added = LIMIT_POINTS[workload], found["default"]
        outcome = "met" if added["high"] <= limit else "not met" if added["low"] > limit else "not resolved"
        lines += ["", f"All sources together over the previous capture: at most {limit} points: {outcome}."]
    return lines


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder for overhead.json and overhead.md")
    parser.add_argument("--library", required=True, help="libtraceinject.so")
    parser.add_argument("--workload", required=True, help="transformer.py")
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS, help="presets (default: both)")
    parser.add_argument("--configuration", action="append", type=configuration_name,
                        help="may be given several times (default: " + ", ".join(DEFAULT_CONFIGURATIONS) + ")")
    parser.add_argument("--sources", action="store_true",
                        help="what each source costs: its configurations, and rounds of about 25 s (20 steps after 5)")
    parser.add_argument("--ranks", type=int, default=1, help="of data-parallel training, a GPU each (default: 1)")
    parser.add_argument("--repetitions", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--steps", type=int, help="measured steps a run (default: 80, about 3 s; with --sources 20)")
    parser.add_argument("--warmup", type=int, help="steps before (default: 10; with --sources 5)")
    parser.add_argument("--block", type=int, help="steps timed together (default: 20; with --sources 5)")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one run, or for importing PyTorch (default: 120)")
    parser.add_argument("--budget-s", type=int, default=540, help="no new round that would end later than this (default: 540)")
    options = parser.parse_args()
    options.configuration = options.configuration or (SOURCE_CONFIGURATIONS if options.sources else DEFAULT_CONFIGURATIONS)
    for name, long, short in (("steps", 80, 20), ("warmup", 10, 5), ("block", 20, 5)):
        if getattr(options, name) is None:
            setattr(options, name, short if options.sources else long)
    if options.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    options.library = os.path.realpath(options.library)
    return options


def write_results(options, results):
    document, texts = {}, []
    for workload in options.workloads:
        summaries = {c: summarise(results, workload, c) for c in options.configuration}
        document[workload] = {"configurations": summaries, "runs": {c: results[workload, c] for c in options.configuration}}
        texts.append(table(workload, summaries, len(results[workload, options.configuration[0]]), options))
    for name, text in (("overhead.json", json.dumps(document, indent=1)), ("overhead.md", "\n\n".join(texts) + "\n")):
        path = pathlib.Path(options.out) / name
        path.with_suffix(".part").write_text(text)
        path.with_suffix(".part").rename(path)


def main():
    options = parse_options()
    measure_all(options, lambda results: write_results(options, results))
    print((pathlib.Path(options.out) / "overhead.md").read_text(), end="")


if __name__ == "__main__":
    main()
