#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Step time of a training program untraced, recorded in several ways, and under torch.profiler.

One run of one configuration is one process. Processes that are started apart differ by several per cent in a launch-bound step
(memory layout, placement), more than the differences in question; so the runs of a round are forked from a parent that has
imported PyTorch and not yet touched CUDA: one parent without the library for the untraced and profiled runs, one with LD_PRELOAD
for the recorded ones. Every round has new parents, and the order of its configurations is turned by one, so that layouts and
drifting clocks hit all of them alike. Printed are, as a Markdown table, medians over the rounds with 95 % intervals (percentile
bootstrap over rounds) of the step time, of the change against the untraced run of the same round, and of the percentage points by
which that change exceeds the one with kernels only.

Configurations
  untraced          no library
  default           the library with its defaults
  kinds:A,B,...     the library with TRACEINJECT_KINDS=A,B,...
  profiler-cuda     torch.profiler, CUDA activities only; no library
  profiler-cpu-cuda torch.profiler, CPU and CUDA activities; no library
"""

import argparse
import collections
import json
import os
import pathlib
import random
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time

from run_db import RunDb

DEFAULT_CONFIGURATIONS = ["untraced", "kinds:kernel", "default", "profiler-cuda", "profiler-cpu-cuda"]
WORKLOADS = {
    "compute": "(a) compute-bound",
    "launch-bound": "(c) launch-bound",
}
BASE = "untraced"
FLOOR = "kinds:kernel"  # the least that recording kernels with CUPTI costs


def is_traced(configuration):
    return configuration == "default" or configuration.startswith("kinds:")


class ForkServer:
    """A parent of measured processes (fork_server.py)."""

    def __init__(self, options, library=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRACEINJECT")}
        if library:
            environment["LD_PRELOAD"] = library
        self.timeout = options.timeout
        self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("fork_server.py"), options.workload],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)

    def wait_until_ready(self):
        if self.answer() != "ready":
            raise RuntimeError("PyTorch could not be imported")

    def answer(self, limit=None):
        limit = limit or self.timeout
        if not select.select([self.process.stdout], [], [], limit)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)  # with the child that is being measured
            self.process.wait()
            raise RuntimeError(f"no answer within {limit} s")
        return self.process.stdout.readline().strip()

    def execute(self, arguments, environment, output, limit=None):
        """The child's exit code; what it printed is in the file `output`."""
        request = {"arguments": arguments, "environment": environment, "output": str(output)}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.answer(limit)
        if not answer:
            raise RuntimeError("the parent of the measured processes has ended")
        return int(answer)

    def run(self, arguments, environment, output):
        code = self.execute(arguments, environment, output)
        text = output.read_text()
        if code != 0:
            raise RuntimeError(f"exit code {code}\n{text[-2000:]}")
        return json.loads(text.splitlines()[-1])

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def environment(configuration, database):
    """What a recorded child sees on top of its parent's environment."""
    env = {"TRACEINJECT_OUTPUT": str(database)}
    if configuration.startswith("kinds:"):
        env["TRACEINJECT_KINDS"] = configuration.removeprefix("kinds:")
    return env


def arguments(options, workload, configuration):
    words = ["--preset", workload, "--steps", str(options.steps), "--warmup", str(options.warmup), "--block", str(options.block),
             "--workers", "0"]
    if configuration.startswith("profiler-"):
        words += ["--profiler", "-", "--profiler-activities", configuration.removeprefix("profiler-").replace("-", ",")]
    return words


def measure(options, server, workload, configuration, scratch):
    """One process: its result line, with what was recorded."""
    database = scratch / "run.db"
    database.unlink(missing_ok=True)
    traced = is_traced(configuration)
    try:
        result = server.run(arguments(options, workload, configuration), environment(configuration, database) if traced else {},
                            scratch / "output")
    except RuntimeError as error:
        raise RuntimeError(f"{workload}, {configuration}: {error}") from error
    result["recorded"] = recorded(database, configuration) if traced else None
    database.unlink(missing_ok=True)
    return result


def recorded(database, configuration):
    """Row counts: a recording that was off would look wonderfully cheap."""
    run = RunDb(database)
    rows = {table: run.count(table) for table in ("kernel", "memcpy", "memset", "api", "sync")}
    run.db.close()
    if rows["kernel"] == 0:
        raise RuntimeError(f"{configuration}: no kernel was recorded: {rows}")
    if configuration == "kinds:kernel" and rows["api"]:
        raise RuntimeError(f"{configuration}: {rows['api']} calls were recorded although only kernels were asked for")
    return rows | {"bytes": database.stat().st_size}


def measure_all(options):
    """{(workload, configuration): [result, ...]}, one a completed round."""
    results, began = collections.defaultdict(list), time.monotonic()
    scratch = pathlib.Path(options.out) / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    for number in range(options.repetitions):
        round_began = time.monotonic()
        shift = number % len(options.configuration)
        servers = {False: ForkServer(options), True: ForkServer(options, options.library)}
        for server in servers.values():
            server.wait_until_ready()
        for workload in options.workloads:
            for configuration in options.configuration[shift:] + options.configuration[:shift]:
                result = measure(options, servers[is_traced(configuration)], workload, configuration, scratch)
                results[workload, configuration].append(result)
                print(f"round {number + 1}  {workload:13} {configuration:30} {result['median_step_ms']:8.3f} ms",
                      file=sys.stderr, flush=True)
        for server in servers.values():
            server.stop()
        spent, last = time.monotonic() - began, time.monotonic() - round_began
        if number + 1 < options.repetitions and spent + last > options.budget_s:
            print(f"stopped after {number + 1} rounds: another would exceed {options.budget_s} s", file=sys.stderr)
            break
    shutil.rmtree(scratch)
    return results


def interval(rounds, statistic, seed=1, samples=10000):
    """Median and percentile-bootstrap 95 % interval of statistic(list of rounds)."""
    generator = random.Random(seed)
    draws = sorted(statistic(generator.choices(rounds, k=len(rounds))) for _ in range(samples))
    return {"median": statistic(rounds), "low": draws[int(0.025 * samples)], "high": draws[int(0.975 * samples) - 1]}


def changes(results, workload, configuration):
    """Percent against the untraced run of the same round; empty if there was none."""
    pairs = zip(results.get((workload, configuration), []), results.get((workload, BASE), []))
    return [100 * (mine["median_step_ms"] / base["median_step_ms"] - 1) for mine, base in pairs]


def summarise(results, workload, configuration):
    runs = results[workload, configuration]
    rounds = [result["median_step_ms"] for result in runs]
    summary = {"step_ms": interval(rounds, statistics.median), "rounds": rounds, "recorded": runs[-1]["recorded"]}
    mine, floor = changes(results, workload, configuration), changes(results, workload, FLOOR)
    if mine and configuration != BASE:
        summary["change_percent"] = interval(mine, statistics.median)
    if mine and floor and configuration not in (BASE, FLOOR):
        summary["points_over_floor"] = interval([m - f for m, f in zip(mine, floor)], statistics.median)
    return summary


def cell(summary, key, unit, sign="+"):
    value = summary.get(key)
    return f"{value['median']:{sign}.2f}{unit} ({value['low']:{sign}.2f} to {value['high']:{sign}.2f})" if value else ""


def table(workload, summaries, rounds, options):
    lines = [f"{WORKLOADS[workload]}, {options.steps} steps a run, {rounds} interleaved rounds:", "",
             "| configuration | step, ms (95 %) | against untraced (95 %) | against kernels only, points (95 %) | recorded rows |",
             "|---|---|---|---|---|"]
    for configuration, summary in summaries.items():
        rows = summary["recorded"] or {}
        held = ", ".join(f"{count} {name}" for name, count in rows.items() if count and name != "bytes")
        lines.append(f"| {configuration} | {cell(summary, 'step_ms', '', '')} | {cell(summary, 'change_percent', ' %')} | "
                     f"{cell(summary, 'points_over_floor', '')} | {held} |")
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder for overhead.json and overhead.md")
    parser.add_argument("--library", required=True, help="libtraceinject.so")
    parser.add_argument("--workload", required=True, help="transformer.py")
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS, help="presets (default: both)")
    parser.add_argument("--configuration", action="append", help="may be given several times (default: " + ", ".join(DEFAULT_CONFIGURATIONS) + ")")
    parser.add_argument("--repetitions", type=int, default=5, help="rounds (default: 5)")
    parser.add_argument("--steps", type=int, default=80, help="measured steps a run (default: 80, about 3 s)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before (default: 10)")
    parser.add_argument("--block", type=int, default=20, help="steps timed together (default: 20)")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one run, or for importing PyTorch (default: 120)")
    parser.add_argument("--budget-s", type=int, default=540, help="no new round that would end later than this (default: 540)")
    options = parser.parse_args()
    options.configuration = options.configuration or DEFAULT_CONFIGURATIONS
    if options.repetitions < 1:
        parser.error("--repetitions must be at least 1")
    options.library = os.path.realpath(options.library)
    return options


def main():
    options = parse_options()
    results = measure_all(options)
    out, document, texts = pathlib.Path(options.out), {}, []
    for workload in options.workloads:
        summaries = {c: summarise(results, workload, c) for c in options.configuration}
        document[workload] = {"configurations": summaries, "runs": {c: results[workload, c] for c in options.configuration}}
        texts.append(table(workload, summaries, len(results[workload, options.configuration[0]]), options))
    (out / "overhead.json").write_text(json.dumps(document, indent=1))
    (out / "overhead.md").write_text("\n\n".join(texts) + "\n")
    print("\n\n".join(texts))


if __name__ == "__main__":
    main()
