#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torch.profiler in a recorded process: what it exports is what it exports without us, and we record everything before, during and after.

The program trains a few steps, then profiles three of them again and again, with steps in between that nobody profiles; in `often`
single ones, sixty times, while the library flushes twenty times a second: at the end of a session that must take nothing from it. In
`windows` recording begins and ends in the middle of its sessions.

    profiler.py check --library libtraceinject.so --out OUT
    profiler.py run NAME RESULT.json           (the program: cuda, cpu_cuda, schedule, often, windows, teardown)
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
from run_db import demangle  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = HERE.parents[2] / "samples" / "workloads"
PROGRAMS = ("cuda", "cpu_cuda", "schedule", "often", "windows", "teardown")
CYCLES = {"teardown": 3, "often": 60, "windows": 30}
PROFILED = {"often": 1}
SETTINGS = {"often": {"TRACEINJECT_FLUSH_MS": "50"}, "windows": {"TRACEINJECT_WINDOW": "every:7:3"}}  # of the library
SOME_CYCLES, SOME_PROFILED, BETWEEN, WARM_UP = 10, 3, 2, 5
NEAR_NS = 2_000
# How often its own buffers are asked for and flushed differs from run to run without us, too.
UNEQUAL = ("overhead",)


# ---- the program

def profiled_kernels(trace):
    """(name, start_ns, dur_ns, correlation) of the kernels of a trace, in order."""
    base = int(trace.get("baseTimeNanoseconds", 0))
    kernels = [(event["name"], base + round(event["ts"] * 1e3), round(event["dur"] * 1e3), event["args"].get("correlation"))
               for event in trace["traceEvents"] if event.get("ph") == "X" and event.get("cat") == "kernel"]
    return sorted(kernels, key=lambda kernel: kernel[1])


def read_trace(path):
    trace = json.loads(pathlib.Path(path).read_text())
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X" and "cat" in event]
    return {"counts": collections.Counter(event["cat"] for event in events), "kernels": profiled_kernels(trace),
            "calls": collections.Counter(event["name"] for event in events if event["cat"] in ("cuda_runtime", "cuda_driver"))}


def run(name, result):
    import torch
    from torch.profiler import ProfilerActivity, profile, schedule
    sys.path.insert(0, str(WORKLOADS))
    import transformer
    torch.use_deterministic_algorithms(True)  # else the loss differs in its last digits from run to run
    sys.argv = ["transformer.py", "--preset", "compute", "--steps", "200", "--workers", "0"]
    trainer = transformer.Trainer(transformer.parse_options())
    activities = [ProfilerActivity.CUDA] if name == "cuda" else [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    cycles, profiled = CYCLES.get(name, SOME_CYCLES), PROFILED.get(name, SOME_PROFILED)
    paths, steps, began = [], 0, time.perf_counter()

    def train(count):
        nonlocal steps
        for _ in range(count):
            trainer.step()
        steps += count

    train(WARM_UP)
    folder = tempfile.mkdtemp()
    for cycle in range(cycles):
        paths.append(f"{folder}/{cycle}.json")
        if name == "schedule":
            with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=profiled),
                         on_trace_ready=lambda p: p.export_chrome_trace(paths[-1])) as profiler:
                for _ in range(2 + profiled):
                    train(1)
                    trainer.synchronise()  # else the work of a step before it began is in the trace, more or less of it
                    profiler.step()
        else:
            with profile(activities=activities) as profiler:
                train(profiled)
            profiler.export_chrome_trace(paths[-1])
        train(BETWEEN)
        trainer.synchronise()
    took = time.perf_counter() - began
    pathlib.Path(result).write_text(json.dumps({"steps": steps, "seconds": took, "cycles": [read_trace(path) for path in paths],
                                                "loss": trainer.replicas[0].loss.item()}))


# ---- the checks

class Recording:
    def __init__(self, path):
        import sqlite3
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.base = self.rows("SELECT value FROM meta WHERE key = 'base_ns'")[0][0]

    def rows(self, sql):
        return self.db.execute(sql).fetchall()

    def kernels(self):
        """By the 32 bits of a correlation id that CUPTI tells, which begin anew when it is finalized."""
        sql = """SELECT k.correlation, k.start, k.dur, n.text FROM kernel k JOIN kernel_shape h ON h.id = k.shape
                 JOIN string n ON n.id = h.name"""
        found = collections.defaultdict(list)
        for correlation, start, dur, text in self.rows(sql):
            found[correlation & 0xFFFFFFFF].append((self.base + start, dur, text))
        return found

    def launches(self):
        """How many kernels, and of how many of them no call that launched them and nothing else is recorded."""
        return self.rows("""SELECT count(*), ifnull(sum(correlation NOT IN (SELECT correlation FROM api GROUP BY 1 HAVING count(*) = 1)), 0)
                            + count(*) - count(DISTINCT correlation) FROM kernel WHERE graph_node IS NULL""")[0]

    def count(self, source, counter):
        found = self.rows(f"SELECT value FROM health WHERE source = '{source}' AND counter = '{counter}'")
        return found[0][0] if found else 0


class Check:
    def __init__(self, library, out):
        self.library, self.out = pathlib.Path(library).resolve(), pathlib.Path(out)

    def play(self, name, traced):
        label = f"{name}.{'traced' if traced else 'plain'}"
        result, database = self.out / f"{label}.json", self.out / f"{name}.db"
        environment = dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:8")
        if name == "teardown":
            environment.update(TEARDOWN_CUPTI="1")
        if traced:
            environment.update(LD_PRELOAD=str(self.library), TRACEINJECT_OUTPUT=str(database))
            environment.update(SETTINGS.get(name, {}))
        ended = subprocess.run([sys.executable, __file__, "run", name, str(result)], env=environment, capture_output=True, text=True,
                               timeout=150)
        (self.out / f"{label}.log").write_text(ended.stdout + ended.stderr)
        return (json.loads(result.read_text()) if ended.returncode == 0 else None), ended

    def program(self, name):
        judge = checks.Checks(self.out / "checks.jsonl", f"profiler {name}")
        plain, plain_ended = self.play(name, False)
        traced, traced_ended = self.play(name, True)
        if plain is None or traced is None:
            return judge.add("runs", False, f"exit codes {plain_ended.returncode} without us, {traced_ended.returncode} with us")
        judge.add("output", self.words(plain_ended) == self.words(traced_ended), f"{len(self.words(traced_ended))} lines, the same without us"
                  if self.words(plain_ended) == self.words(traced_ended) else f"{self.words(traced_ended)[:5]}, without us {self.words(plain_ended)[:5]}")
        self.compare_counts(judge, plain, traced)
        recording = Recording(self.out / f"{name}.db")
        if name == "windows":
            windows = recording.rows("SELECT count(*) FROM capture_gap WHERE reason = 'window'")[0][0]
            judge.add("windows ended", windows >= CYCLES[name] / 2, f"{windows} times")
        else:
            self.compare_kernels(judge, traced, recording, name)
        # In its sessions CUPTI tells the runtime's launches, else the driver's.
        kernels, alone = recording.launches()
        judge.add("each kernel has its launch", kernels > 0 and alone == 0, f"{alone} of {kernels} have none")
        judge.add("same result", plain["loss"] == traced["loss"], f"loss {traced['loss']}, {plain['loss']} without us")
        judge.note("time of all", f"{plain['seconds']:.1f} s without us, {traced['seconds']:.1f} s with us")

    @staticmethod
    def words(ended):
        """Lines without what differs from run to run: times, process ids, addresses."""
        return ["".join(c for c in line if not c.isdigit()) for line in (ended.stdout + ended.stderr).split("\n") if line.strip()]

    def compare_counts(self, judge, plain, traced):
        for category in sorted({category for cycle in plain["cycles"] + traced["cycles"] for category in cycle["counts"]}):
            without = [cycle["counts"].get(category, 0) for cycle in plain["cycles"]]
            with_us = [cycle["counts"].get(category, 0) for cycle in traced["cycles"]]
            detail = f"{with_us} with us, {without} without"
            if category in UNEQUAL:
                judge.note(f"events {category}", detail)
            else:
                judge.add(f"events {category}", without == with_us, detail if without != with_us else f"{with_us[0]} a cycle, {len(with_us)} cycles")

        for number, (without, with_us) in enumerate(zip(plain["cycles"], traced["cycles"])):
            more = {name: with_us["calls"].get(name, 0) - without["calls"].get(name, 0) for name in {**without["calls"], **with_us["calls"]}}
            if any(more.values()):
                judge.note("calls", f"cycle {number}, with us more of: { {name: count for name, count in more.items() if count} }")

    def compare_kernels(self, judge, traced, recording, name_of_program):
        recorded = recording.kernels()
        seen, missing, wrong_name, off = 0, 0, 0, []
        for cycle in traced["cycles"]:
            for name, start, dur, correlation in cycle["kernels"]:
                seen += 1
                ours = min(recorded[correlation], key=lambda kernel: abs(kernel[0] - start), default=None)
                if ours is None:
                    missing += 1
                    continue
                wrong_name += demangle(ours[2]).split("(")[0] != name.split("(")[0]
                off.append(max(abs(ours[0] - start), abs(ours[0] + ours[1] - start - dur)))
        off.sort()
        judge.add("its kernels are recorded", missing == 0 and seen > 0, f"{seen} in its traces, {missing} of them not recorded, {wrong_name} with another name")
        if off:
            judge.add("times", off[-1] <= NEAR_NS, f"largest difference {off[-1]} ns, median {off[len(off) // 2]} ns (limit {NEAR_NS})")
        a_step = {len(cycle["kernels"]) / PROFILED.get(name_of_program, SOME_PROFILED) for cycle in traced["cycles"]}
        expected = max(a_step) * traced["steps"]
        rows = sum(map(len, recorded.values()))
        gaps = [reason for reason, in recording.rows("SELECT reason FROM capture_gap")]
        lost_ns = recording.rows("SELECT ifnull(sum(dur), 0) FROM capture_gap")[0][0]
        # A client that takes CUPTI away takes from us what is launched until we are back.
        judge.add("all steps are recorded", rows >= expected and set(gaps) <= ({"other_client"} if name_of_program == "teardown" else set()),
                  f"{rows} kernels recorded, {expected:.0f} of {traced['steps']} steps; {recording.count('kernel', 'dropped')} dropped; "
                  f"{len(gaps)} gaps of {lost_ns} ns")
        judge.note("sessions", f"{recording.count('other_client', 'sessions')} shared")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "run":
        return run(sys.argv[2], sys.argv[3])
    return checks.check_programs(__doc__, PROGRAMS, Check)


if __name__ == "__main__":
    sys.exit(main())
