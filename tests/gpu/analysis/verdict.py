#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the verdict of `analyze` against planted bottlenecks (samples/workloads/bottlenecks.py).

For each cause an untraced process measures what it costs, by blocks of steps with the cause off and on in turn, and right after it the
cause is recorded, always on, in a process and a run.db of its own, for which `analyze --format json` names a label and a saving. With
two GPUs, data-parallel training is recorded as well. Processes are forked from parents that have imported PyTorch (fork_server.py).

A cause passes if the label is the right one, and the predicted saving differs from the measured one by at most --tolerance of the
step with the cause on. One that costs less than --share of its step is too weak to prove much: it fails only if something else is
blamed. Each cause is planted in two strengths. A control passes if nothing is blamed: compute_bound. Data-parallel training may also
be comm_exposed if communication is exposed for more than 5 % of the time, which is computed here from the recording, for the worst
rank, between the start of its first and the end of its last step.

Beside the table it tells how many of the measured savings lie within the 95 % intervals that are stated.

--load makes a late host of any machine by busy processes (samples/workloads/host_load.py). Such a host changes its speed from process
to process. So truth and recording are of one process, recorded throughout: a block without load, then with it the cause off, on, and off;
what is judged is the block with the cause on. Predictions are of a run that nobody records: what recording adds to a step is taken off
the truth, as analyze tells it of either block. Where the load itself, off over rest, costs four fifths of what the cause costs, or more,
and more than --share of the step, it is right to blame the host. What the host costs is between what the cause costs and that with what
the load costs: neither a mended program nor free processors alone are what analyze foretells of it.

Machines with noisy neighbours change their speed within a minute, and what is bound by the host with them. With --repeats N, truth
and recording are made N times in turn, each in new parents, and medians are judged; labels must be right in all.

  verdict.py --rescore --out OUT --analyze ANALYZE   judges the recordings that an earlier run left in OUT (--keep); needs no GPU
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve()
sys.path[1:1] = [str(folder) for folder in (HERE.parents[1] / "shared", HERE.parents[1] / "recording", HERE.parents[3] / "samples" / "workloads")]
import check_recording  # noqa: E402
from fork_client import ForkServer, json_lines  # noqa: E402
from host_load import LOADS  # noqa: E402
from run_db import RunDb  # noqa: E402

# What is planted (bottlenecks.py), the label that it must get, and a second strength beside the default.
PLANTED = {
    "dataloader_cpu": ("dataloader", 80), "dataloader_sleep": ("dataloader", 200), "h2d_copy": ("h2d_copy", 512),
    "upload": ("h2d_copy", 1024), "sync": ("sync_bound", 192),
    "fetch": ("sync_bound", 256), "allocator": ("allocator", 3), "checkpoint": ("checkpoint", 5), "gc": ("gc_pause", 3000),
    "launch": ("launch_bound", 75), "python": ("host_code", 60), "optimizer": ("launch_bound", 600), "fp32": ("low_precision_unused", 4),
    "unaligned": ("inefficient_gemm", 12), "attention": ("unfused_attention", 12), "gelu": ("memory_bound", 6),
}
NO_CAUSE = ("compute_bound", "inconclusive")
# Programs with nothing planted, and what may be said of them beside compute_bound.
CONTROLS = {"transformer": [], "conv": [], "long_sequence": [], "wide": [], "accumulation": [], "vit": [], "lstm": [], "mlp": [],
            "recommender": ["memory_bound"], "workers": [], "loss": []}
DATA_PARALLEL = "ddp"
CAUSES = [*PLANTED, *(f"{name}={strength}" for name, (_, strength) in PLANTED.items()), *CONTROLS]
EXPOSED_FLOOR = 0.05
# The labels of a host that is late by itself.
HOST_LABELS = ("launch_bound", "host_code")
# Of what the cause costs, what the load costs where it may be blamed, too.
LOAD_TO_BLAME = 0.8
WAIT_TOLERANCE = 0.02  # of the data waits that the program measured
# Twice the preset's batch: with the preset's, a slow host launches too late for two GPUs, and the control is none.
DATA_PARALLEL_WORDS = ["--preset", "compute", "--batch", "8", "--ddp", "--nvtx"]


def label_of(cause):
    """What a planted cause must be called; None for a control."""
    return PLANTED.get(cause.partition("=")[0], (None,))[0]


class Runner:
    """Runs bottlenecks.py, in children of one parent or (--separate) as programs of their own."""

    def __init__(self, options, library=None):
        self.options, self.library = options, library
        self.server = None
        if not options.separate:
            self.server = ForkServer(options, library)
            self.server.wait_until_ready()

    def run(self, arguments, environment, output, limit):
        """Exit code; what was printed is in the file `output`."""
        if self.server:
            return self.server.execute([arguments], environment, output, limit)
        variables = {name: value for name, value in os.environ.items() if not name.startswith("TRACEINJECT")} | environment
        if self.library:
            variables["LD_PRELOAD"] = self.library
        return run_group([sys.executable, self.options.workload, *arguments], variables, output, limit)

    def stop(self):
        if self.server:
            self.server.stop()


def run_group(command, environment, output, limit):
    """Exit code of a program, which is ended with all its children when the limit is over."""
    with open(output, "w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment,
                                   start_new_session=True)
        try:
            return process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise RuntimeError(f"not finished within {limit} s; see {output}") from None


class Parents:
    """The parents of the untraced and of the recorded processes, made when they are first needed."""

    def __init__(self, options):
        self.options, self.runners = options, {}

    def run(self, library, words, environment, output, limit):
        """The result lines of bottlenecks.py."""
        try:
            if library not in self.runners:
                self.runners[library] = Runner(self.options, library)
            code = self.runners[library].run(words, environment, output, limit)
        except RuntimeError:
            self.runners.pop(library, None)  # it has ended with its child
            raise
        lines = json_lines(output.read_text())
        if code != 0 or not lines:
            raise RuntimeError(f"exit code {code}; see {output}")
        return lines[-1]

    def stop(self):
        for runner in self.runners.values():
            runner.stop()


def measure_truth(options, out, parents, cause):
    """The result line of bottlenecks.py; {} for a control, which costs nothing."""
    output = out / "logs" / f"truth.{cause}.txt"
    if cause == DATA_PARALLEL:
        return run_data_parallel(options, output, {})
    if not label_of(cause) or options.load != "none":
        return {}
    words = ["--cause", cause, "--schedule", "off,on", "--rounds", str(options.rounds), "--steps", str(options.truth_steps)]
    return parents.run(None, words, {}, output, options.truth_timeout)


def record(options, out, parents, cause):
    """The result line of the recorded run."""
    output, target = out / "logs" / f"{cause}.txt", recording_of(out, cause)
    target.parent.mkdir(parents=True, exist_ok=True)
    if cause == DATA_PARALLEL:
        return run_data_parallel(options, output, {"LD_PRELOAD": options.library, "TRACEINJECT_OUTPUT": str(target)})
    schedule = ["--schedule", "on"] if options.load == "none" else ["--load", options.load, "--schedule", "rest,off,on,off"]
    words = ["--cause", cause, *schedule, "--steps", str(options.steps), "--settle", str(options.settle)]
    return parents.run(options.library, words + (["--nvtx"] if options.nvtx else []), {"TRACEINJECT_OUTPUT": str(target)}, output,
                       options.timeout)


def attempt(what, *arguments):
    """What it returns; an "error" if it fails."""
    try:
        return what(*arguments)
    except (RuntimeError, OSError) as error:
        return {"error": str(error)}


def run_data_parallel(options, output, environment):
    program = pathlib.Path(options.workload).with_name("transformer.py")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", str(program),
               *DATA_PARALLEL_WORDS, "--steps", str(options.steps)]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TRACEINJECT")} | environment
    code = run_group(command, variables, output, options.timeout)
    lines = json_lines(output.read_text())
    return {"step_ms_on": lines[-1]["median_step_ms"]} if code == 0 and lines else {"error": f"exit code {code}; see {output}"}


def recording_of(out, cause):
    return out / "recordings" / cause / "run.db" if cause == DATA_PARALLEL else out / "recordings" / f"{cause}.db"


def files_of(out, cause):
    path = recording_of(out, cause)
    return sorted(path.parent.glob("run.rank*.db")) if cause == DATA_PARALLEL else [path] if path.exists() else []


def analyze(options, out, cause, recorded):
    """The report of `analyze`, or None with the reason. The text report is kept beside it for people."""
    path, reports = recording_of(out, cause), out / "reports"
    if not files_of(out, cause):
        return None, "nothing was recorded"
    reports.mkdir(parents=True, exist_ok=True)
    return ask([options.analyze, path, *block_to_judge(path, recorded)], reports, cause)


def block_to_judge(path, recorded, state="on"):
    """Where not all of the recording is to be judged, the options that choose the last block of a state."""
    blocks = recorded.get("blocks", [])
    if all(block["state"] == "on" for block in blocks):
        return []
    block = [block for block in blocks if block["state"] == state][-1]
    run = RunDb(path)
    first = min(run.one(f"SELECT min(start) FROM {table}") or math.inf for table in ("kernel", "memcpy", "memset"))
    begin = run.one("SELECT value FROM meta WHERE key = 'base_ns'") + first
    run.db.close()
    return ["--from", f"{block['start_unix_ns'] - begin}ns", "--to", f"{block['end_unix_ns'] - begin}ns"]


def recording_without(options, out, cause, recorded):
    """What recording adds to a step with the cause off, in ms; None: no such block."""
    path = recording_of(out, cause)
    if not recorded.get("step_ms_off") or not recorded.get("step_ms_rest"):
        return None
    report, _ = ask([options.analyze, path, *block_to_judge(path, recorded, "off")], out / "reports", f"{cause}.off")
    return int(((report or {}).get("verdict") or {}).get("recording_ns") or 0) / 1e6


def ask(command, reports, cause):
    """What `analyze` says, or None with the reason. The text is kept beside it for people."""
    for style, extension in (("text", "txt"), ("json", "json")):
        try:
            ended = subprocess.run([*command, "--format", style], capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return None, "analyze was not ready within 120 s"
        (reports / f"{cause}.{extension}").write_text(ended.stdout)
        if ended.returncode != 0:
            return None, f"analyze: exit code {ended.returncode}: {ended.stderr.strip()[-200:]}"
    try:
        return json.loads(ended.stdout), None
    except json.JSONDecodeError as error:
        return None, f"analyze wrote no JSON: {error}"


def exposed_share(path):
    """|N \\ C| / wall of one rank's file, from the start of the first to the end of the last NVTX range "step N"."""
    run = RunDb(path)
    steps = run.steps().ranges
    worst = 0.0
    for intervals in run.intervals_by_device().values():
        if steps:
            begin, end = steps[0][0], max(step[1] for step in steps)
            intervals = [(max(start, begin), min(stop, end), *what) for start, stop, *what in intervals if start < end and stop > begin]
        if intervals:
            parts = check_recording.sweep(intervals)
            worst = max(worst, parts["exposed_communication_ns"] / max(1, sum(parts.values())))
    run.db.close()
    return worst


def expected_labels(out, cause):
    if label_of(cause):
        return [label_of(cause)]
    if cause != DATA_PARALLEL:
        return ["compute_bound", *CONTROLS[cause]]
    shares = [exposed_share(path) for path in files_of(out, cause)]
    return ["compute_bound"] + (["comm_exposed"] if shares and max(shares) > EXPOSED_FLOOR else [])


def milliseconds(nanoseconds):
    return None if nanoseconds is None else int(nanoseconds) / 1e6


def judge(options, cause, truth, verdict, expected):
    """One row of the table. All times in milliseconds a step."""
    row = {"cause": cause, "expected": expected, "label": verdict["label"], "confidence": verdict.get("confidence"),
           "step_off_ms": truth.get("step_ms_off"), "step_on_ms": truth.get("step_ms_on"),
           "predicted_ms": int(verdict.get("saved_ns") or 0) / 1e6, "low_ms": milliseconds(verdict.get("saved_low_ns")),
           "high_ms": milliseconds(verdict.get("saved_high_ns")), "true_ms": None, "error_percent": None, "faults": []}
    if truth.get("step_ms_rest"):
        row["load_ms"] = (truth["step_ms_off"] or truth["step_ms_on"]) - truth["step_ms_rest"]
        cause_ms = truth["step_ms_on"] - (truth["step_ms_off"] or truth["step_ms_on"])
        if row["load_ms"] >= max(LOAD_TO_BLAME * cause_ms, options.share / 100 * truth["step_ms_on"]):
            row["expected"] = expected = [*expected, *HOST_LABELS]
    if verdict["label"] not in expected:
        row["faults"].append("wrong label")
    if label_of(cause) and ("error" in truth or not row["step_off_ms"] or not row["step_on_ms"]):
        row["faults"].append(f"no truth: {truth.get('error', 'no step times')}")
    return row


def hold_against_truth(options, row):
    """Fills in what the cause costs and how far the prediction is off, and judges both."""
    if not label_of(row["cause"]) or row["step_off_ms"] is None or row["step_on_ms"] is None or row["predicted_ms"] is None:
        return
    row["true_ms"] = row["step_on_ms"] - row["step_off_ms"]
    if row.get("recording_off_ms") is not None:
        row["true_ms"] -= row["recording_on_ms"] - row["recording_off_ms"]
    most_ms = row["true_ms"]
    if row["label"] in HOST_LABELS and row.get("load_ms", 0) > 0:
        if row["label"] != label_of(row["cause"]) and row["label"] in row["expected"]:  # the load is blamed, which is no cause of ours
            return
        most_ms += row["load_ms"]
    nearest_ms = min(max(row["predicted_ms"], row["true_ms"]), most_ms)
    row["error_percent"] = 100 * (row["predicted_ms"] - nearest_ms) / row["step_on_ms"]
    if row["label"] in row["expected"] and None not in (row.get("low_ms"), row.get("high_ms")):
        row["covered"] = row["low_ms"] <= most_ms and row["true_ms"] <= row["high_ms"]
    if 100 * row["true_ms"] / row["step_on_ms"] < options.share:
        row["weak"] = True
        if row["label"] in NO_CAUSE:  # nothing is the right answer, too
            row["faults"].clear()
    elif abs(row["error_percent"]) > options.tolerance:
        row["faults"].append(f"saving off by more than {options.tolerance:g} % of the step")


def median_of(rows):
    """The rows of one cause in all repeats as one: medians of the times, and the faults of all."""
    merged = dict(rows[0])
    for name in ("load_ms", "recording_on_ms", "recording_off_ms", "step_off_ms", "step_on_ms", "recorded_step_ms", "reported_step_ms", "predicted_ms", "low_ms", "high_ms", "left_ms",
                 "confidence"):
        values = [row[name] for row in rows if row.get(name) is not None]
        if values:
            merged[name] = statistics.median(values)
    merged["label"] = ", ".join(dict.fromkeys(str(row["label"]) for row in rows))
    merged["expected"] = list(dict.fromkeys(label for row in rows for label in row["expected"]))
    merged["faults"] = list(dict.fromkeys(fault for row in rows for fault in row["faults"]))
    return merged


def failed_row(cause, expected, truth, reason):
    return {"cause": cause, "expected": expected, "label": None, "confidence": None, "step_off_ms": truth.get("step_ms_off"),
            "step_on_ms": truth.get("step_ms_on"), "predicted_ms": None, "true_ms": None, "error_percent": None, "faults": [reason]}


def score(options, out, truth, recorded):
    rows = []
    for cause in options.cause:
        run = recorded.get(cause, {})
        # Both are of one process under load.
        true = run if run.get("step_ms_rest") else truth.get(cause, {})
        if "error" in run:
            rows.append(failed_row(cause, [label_of(cause) or "compute_bound"], true, f"recorded run: {run['error']}"))
            continue
        report, reason = analyze(options, out, cause, run)
        if report is not None and not (report.get("verdict") or {}).get("label"):
            report, reason = None, "the report has no verdict"
        if report is None:
            rows.append(failed_row(cause, [label_of(cause) or "compute_bound"], true, reason))
            continue
        row = judge(options, cause, true, report["verdict"], expected_labels(out, cause))
        row["recorded_step_ms"] = run.get("step_ms_on")
        row["recording_on_ms"] = int(report["verdict"].get("recording_ns") or 0) / 1e6
        row["recording_off_ms"] = recording_without(options, out, cause, run)
        row["left_ms"] = int(report["verdict"].get("new_step_ns") or 0) / 1e6 or None
        row["reported_step_ms"] = int(report["verdict"].get("step_ns") or 0) / 1e6
        rows.append(row)
    return rows


def coverage(rows):
    """How many of the measured savings of right labels are within the intervals stated for them, and of how many."""
    covered = [row["covered"] for row in rows if "covered" in row]
    return sum(covered), len(covered)


def number(value, form=".2f"):
    return "-" if value is None else format(value, form)


def table(rows):
    lines = ["| cause | load, ms | step off, ms | step on, ms | recorded, ms | true saving, ms | predicted, ms | 95 % interval, ms | predicted step, ms | error, % of the step | label | expected | result |",
             "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        result = "FAIL: " + "; ".join(row["faults"]) if row["faults"] else "too weak" if row.get("weak") else "PASS"
        lines.append(f"| {row['cause']} | {number(row.get('load_ms'), '+.2f')} | {number(row['step_off_ms'])} | {number(row['step_on_ms'])} | {number(row.get('recorded_step_ms'))} | "
                     f"{number(row['true_ms'])} | {number(row['predicted_ms'])} | {number(row.get('low_ms'))} to {number(row.get('high_ms'))} | {number(row.get('left_ms'))} | {number(row['error_percent'], '+.1f')} | "
                     f"{row['label'] or '-'} | {' or '.join(row['expected'])} | {result} |".replace("\n", " "))
    return "\n".join(lines)


def has_table(run, name):
    return run.one(f"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '{name}'") == 1


def python_rows(out, recorded):
    """What was recorded of Python against what the program counted itself: data waits and optimizer steps."""
    rows = []
    for cause, run in recorded.items():
        if cause == DATA_PARALLEL or "error" in run or not files_of(out, cause):
            continue
        database = RunDb(files_of(out, cause)[0])
        if has_table(database, "data_wait") and has_table(database, "step_mark"):
            # batch is NULL in the last call of a pass, which brings none.
            wait_ms = database.one("SELECT coalesce(sum(dur), 0) FROM data_wait WHERE batch IS NOT NULL") / 1e6
            waits, marks = database.one("SELECT count(*) FROM data_wait WHERE batch IS NOT NULL"), database.count("step_mark")
            off = wait_ms / run["data_wait_ms"] - 1 if run["data_wait_ms"] else 0.0
            # Waits of microseconds say nothing about the hook: they are judged where a loader is what is slow.
            slow = label_of(cause) == "dataloader"
            passed = waits == run["total_batches"] and marks == run["optimizer_steps"] and (not slow or abs(off) <= WAIT_TOLERANCE)
            rows.append({"cause": cause, "waits": waits, "batches": run["total_batches"], "wait_ms": wait_ms, "true_wait_ms": run["data_wait_ms"],
                         "off": off, "marks": marks, "steps": run["optimizer_steps"], "passed": passed})
        database.db.close()
    return rows


def python_table(rows):
    lines = ["| cause | data waits recorded | batches | wait recorded, ms | wait measured by the program, ms | step marks | optimizer steps | result |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append(f"| {row['cause']} | {row['waits']} | {row['batches']} | {row['wait_ms']:.1f} | {row['true_wait_ms']:.1f} ({row['off']:+.1%}) | "
                     f"{row['marks']} | {row['steps']} | {'PASS' if row['passed'] else 'FAIL'} |")
    return "\n".join(lines)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder for verdict.md, verdict.json, reports/, logs/, and with --keep recordings/")
    parser.add_argument("--analyze", required=True, help="the analyze program")
    parser.add_argument("--library", help="libtraceinject.so; not needed to --rescore")
    parser.add_argument("--workload", help="bottlenecks.py; not needed to --rescore")
    parser.add_argument("--cause", action="append", choices=CAUSES + [DATA_PARALLEL], help="may be repeated (default: all)")
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of this machine; ddp is left out with fewer than two (default: 1)")
    parser.add_argument("--steps", type=int, default=60, help="recorded steps, a multiple of 10 (default: 60)")
    parser.add_argument("--settle", type=int, default=10, help="recorded steps before them (default: 10)")
    parser.add_argument("--truth-steps", type=int, default=20, help="steps of an untraced block, a multiple of 10 (default: 20)")
    parser.add_argument("--rounds", type=int, default=2, help="untraced blocks of each kind (default: 2)")
    parser.add_argument("--repeats", type=int, default=1, help="times that everything is done, each in OUT/1, OUT/2, ... (default: 1)")
    parser.add_argument("--share", type=float, default=10, help="what a cause must cost, %% of its step (default: 10)")
    parser.add_argument("--tolerance", type=float, default=10, help="of the predicted saving, %% of the step (default: 10)")
    parser.add_argument("--nvtx", action="store_true", help="mark the steps with NVTX ranges too")
    parser.add_argument("--separate", action="store_true", help="start every program by itself, not from a common parent")
    parser.add_argument("--load", choices=LOADS, default="none", help="busy processes beside truth and recording, which are of one process then (default: none)")
    parser.add_argument("--keep", action="store_true", help="leave the recordings in OUT/recordings")
    parser.add_argument("--rescore", action="store_true", help="only judge the recordings in OUT again")
    parser.add_argument("--timeout", type=int, default=90, help="seconds for a recorded run, or for importing PyTorch (default: 90)")
    parser.add_argument("--truth-timeout", type=int, default=90, help="seconds for an untraced process (default: 90)")
    options = parser.parse_args()
    if not options.rescore and not (options.library and options.workload):
        parser.error("--library and --workload are needed to record")
    if options.steps % 10 or options.truth_steps % 10 or min(options.steps, options.truth_steps, options.rounds, options.settle, options.repeats) < 1:
        parser.error("--steps and --truth-steps take multiples of 10, --rounds, --settle and --repeats at least 1")
    return options


def summary(truth, recorded):
    """A line of progress."""
    if "error" in truth or "error" in recorded:
        return truth.get("error") or recorded["error"]
    of = recorded if recorded.get("step_ms_rest") else truth
    steps = [f"{of[key]:.2f} ms a step {name}" for key, name in (("step_ms_rest", "at rest"), ("step_ms_off", "without"), ("step_ms_on", "with"))
             if of.get(key)]
    return ", ".join([*steps, f"{recorded['step_ms_on']:.2f} ms recorded"])


def run_everything(options, out):
    for name in ("recordings", "reports", "logs"):
        shutil.rmtree(out / name, ignore_errors=True)
    (out / "logs").mkdir(parents=True)
    truth, recorded, parents = {}, {}, Parents(options)
    for cause in options.cause:
        truth[cause] = attempt(measure_truth, options, out, parents, cause)
        recorded[cause] = attempt(record, options, out, parents, cause)
        # What a run that is cut off leaves can be judged.
        (out / "truth.json").write_text(json.dumps({"truth": truth, "recorded": recorded}, indent=1))
        print(f"{cause}: {summary(truth[cause], recorded[cause])}", file=sys.stderr, flush=True)
    parents.stop()
    return truth, recorded


def choose_causes(options):
    options.cause = options.cause or CAUSES + [DATA_PARALLEL]
    if options.gpus < 2 and DATA_PARALLEL in options.cause:
        options.cause.remove(DATA_PARALLEL)
        print(f"{DATA_PARALLEL}: left out, it needs two GPUs and there is {options.gpus}")


def load(options, out):
    document = json.loads((out / "truth.json").read_text())
    options.cause = options.cause or list(document["recorded"])
    return document["truth"], {cause: document["recorded"][cause] for cause in options.cause}


def folders_of(options, out):
    if options.rescore:
        return sorted((path.parent for path in out.glob("[0-9]*/truth.json")), key=lambda path: int(path.name)) or [out]
    return [out / str(number) for number in range(1, options.repeats + 1)] if options.repeats > 1 else [out]


def main():
    options = parse_options()
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not options.rescore:
        choose_causes(options)
    of_causes, of_python = [], []
    for folder in folders_of(options, out):
        truth, recorded = load(options, folder) if options.rescore else run_everything(options, folder)
        of_causes.append(score(options, folder, truth, recorded))
        of_python += python_rows(folder, recorded)
        if not options.keep and not options.rescore:
            shutil.rmtree(folder / "recordings", ignore_errors=True)
    rows = [median_of(repeats) for repeats in zip(*of_causes)]
    for row in rows:
        hold_against_truth(options, row)
    text = table(rows) + "\n" + (f"\n{python_table(of_python)}\n" if of_python else "")
    covered, stated = coverage(rows)
    text += f"\n{covered} of {stated} measured savings lie within their stated 95 % interval\n"
    failed = sum(bool(row["faults"]) for row in rows) + sum(not row["passed"] for row in of_python)
    passed = len(rows) + len(of_python) - failed
    (out / "verdict.md").write_text(text)
    (out / "verdict.json").write_text(json.dumps({"passed": passed, "failed": failed, "load": options.load, "covered": covered, "stated": stated, "causes": rows, "repeats": of_causes,
                                                  "python": of_python}, indent=1))
    print(text)
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
