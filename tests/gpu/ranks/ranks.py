#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `analyze ranks` against faults planted between the ranks of one host (samples/workloads/ranks.py), one rank a GPU.

What each cause costs is measured without tracing: in one job by blocks of steps with the cause off and on in turn, and for transports,
which the environment sets, in jobs with and without it. Then each cause is recorded, always on, one job and one folder of recordings a
cause, and `analyze ranks --format json` says what the ranks do to each other. Processes are forked from parents that have imported
PyTorch (fork_server.py), one a rank.

A cause passes if the first finding has the right name, reason and rank, and its saving differs from the measured difference by at most
--tolerance of that difference. A control passes if nothing is found. A cause that costs less than --share of its step proves nothing:
it fails if something else is found, and counts as too weak if not.

  ranks.py --rescore --out OUT --analyze ANALYZE   judges the recordings that an earlier run left in OUT; needs no GPU
"""

import argparse
import collections
import json
import pathlib
import shutil
import statistics
import sys

sys.path[1:1] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("shared", "analysis")]
from rank_group import Group  # noqa: E402
from verdict import ask, number  # noqa: E402

# How a cause is started: the words for ranks.py, and what the environment adds.
Case = collections.namedtuple("Case", "words environment")
CLEAN = "communication"  # what transports are compared with
TRANSPORTS = {
    "transport_shm": {"NCCL_P2P_DISABLE": "1"},
    "transport_sockets": {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1"},
    "transport_tree": {"NCCL_ALGO": "allreduce:tree"},
    "transport_ll": {"NCCL_PROTO": "LL"},
}
PLANTED = ("straggler_gemm", "straggler_sleep", "straggler_batch", "uneven_lengths", "pipeline_bubble", "pipeline_stages")
CASES = {
    **{name: Case(["--cause", name], {}) for name in PLANTED},
    **{name: Case(["--cause", CLEAN], environment) for name, environment in TRANSPORTS.items()},
    "control_ddp": Case(["--cause", "control"], {}),
    "control_fsdp": Case(["--cause", "control", "--parallel", "fsdp"], {}),
    "control_communication": Case(["--cause", CLEAN], {}),
}
NCCL_LOG = {"TRACEINJECT_NCCL_LOG": "1"}  # read when a program starts: a forked child gets it too late
TRANSPORT_FINDING = "slow_transport"


def attempt(run):
    """Its result, or what failed as {"error": reason}."""
    try:
        return run()
    except RuntimeError as error:
        return {"error": str(error)}


def say(text):
    print(text, file=sys.stderr, flush=True)


def measure_truth(options, out, group):
    """{cause: result line with step_ms_off and step_ms_on}."""
    truth, words = {}, ["--rounds", str(options.rounds), "--steps", str(options.truth_steps), "--settle", "4"]
    planted = [cause for cause in options.cause if cause in PLANTED]
    if planted:
        causes = [word for cause in planted for word in ("--cause", cause)]
        lines = attempt(lambda: group.run(causes + words, {}, out / "logs" / "truth", options.truth_timeout))
        failed = lines if isinstance(lines, dict) else {"error": "no result line"}
        by_cause = {} if isinstance(lines, dict) else {line["cause"]: line for line in lines}
        truth = {cause: by_cause.get(cause, failed) for cause in planted}
    transports = [cause for cause in options.cause if cause in TRANSPORTS]
    if transports:
        truth |= measure_transports(options, out, group, transports, words)
    for cause, line in truth.items():
        say(f"{cause}: " + (line.get("error") or f"{line['step_ms_off']:.2f} ms a step without, {line['step_ms_on']:.2f} ms with"))
    return truth


def measure_transports(options, out, group, transports, words):
    """One job each; without anything set before the first and after the last."""
    def job(name, environment):
        more = ["--cause", CLEAN, "--schedule", "on", *words]
        return attempt(lambda: group.run(more, environment, out / "logs" / f"truth_{name}", options.timeout)[-1])

    clean = [job("clean", {})]
    lines = {cause: job(cause, TRANSPORTS[cause]) for cause in transports}
    clean = [line["step_ms_on"] for line in [*clean, job("clean_again", {})] if "error" not in line]
    truth = {}
    for cause, line in lines.items():
        if not clean:
            line = {"error": "the job with nothing set failed"}
        truth[cause] = line if "error" in line else {**line, "finding": TRANSPORT_FINDING, "cause": cause, "control": False,
                                                    "step_ms_off": statistics.mean(clean), "blocks_off": clean}
    return truth


def record(options, out, group, keep):
    """{cause: result line of the recorded job}. keep(what is there so far) is called after each."""
    recorded = {}
    for cause in options.cause:
        case, folder = CASES[cause], out / "recordings" / cause
        folder.mkdir(parents=True, exist_ok=True)
        words = [*case.words, "--schedule", "on", "--rounds", "1", "--steps", str(options.steps), "--settle", str(options.settle)]
        environment = case.environment | NCCL_LOG | {"TRACEINJECT_OUTPUT": str(folder / "run.db")}
        recorded[cause] = attempt(lambda words=words, environment=environment, cause=cause:
                                  group.run(words, environment, out / "logs" / cause, options.timeout)[-1])
        keep(recorded)
        say(f"recorded {cause}: " + (recorded[cause].get("error") or f"{recorded[cause]['step_ms_on']:.2f} ms a step"))
    return recorded


def analyze(options, out, cause):
    """What `analyze ranks` says, or None with the reason. The text is kept beside it for people."""
    folder, reports = out / "recordings" / cause, out / "reports"
    if not any(folder.glob("run.rank*")):
        return None, "nothing was recorded"
    reports.mkdir(parents=True, exist_ok=True)
    return ask([options.analyze, "ranks", folder], reports, cause)


def milliseconds(value):
    return None if value is None else int(value) / 1e6


def judge(options, cause, truth, report):
    """One row of the table. `truth`: the result line of the untraced job; of a control that of the recorded one."""
    findings = report.get("findings", [])
    first = findings[0] if findings else {}
    expected = truth.get("finding")
    row = {"cause": cause, "expected": expected, "found": [finding["name"] for finding in findings], "reason": first.get("reason"),
           "ranks": [report["ranks"][index].get("rank") for index in first.get("rows", [])],
           "step_off_ms": truth.get("step_ms_off"), "step_on_ms": truth.get("step_ms_on"),
           "reported_step_ms": milliseconds(report.get("step_ns")), "predicted_ms": milliseconds(first.get("saved_ns")),
           "true_ms": None, "error_percent": None, "weak": False, "faults": []}
    if "error" in truth:
        row["faults"].append(f"no truth: {truth['error']}")
    elif expected is None:
        if findings:
            row["faults"].append("something is found where nothing was planted")
    else:
        judge_planted(options, truth, row)
    return row


def judge_planted(options, truth, row):
    row["true_ms"] = row["step_on_ms"] - row["step_off_ms"]
    if 100 * row["true_ms"] < options.share * row["step_on_ms"]:
        row["weak"] = True
        if any(name != row["expected"] for name in row["found"]):
            row["faults"].append("too weak, and something else is found")
        return
    if row["found"][:1] != [row["expected"]]:
        row["faults"].append("wrong finding" if row["found"] else "nothing is found")
        return
    if truth.get("reason") and row["reason"] != truth["reason"]:
        row["faults"].append(f"wrong reason: {truth['reason']} expected")
    if truth.get("culprit") is not None and row["ranks"] != [truth["culprit"]]:
        row["faults"].append(f"wrong rank: {truth['culprit']} expected")
    if row["predicted_ms"] is None:
        row["faults"].append("no saving is told")
        return
    row["error_percent"] = 100 * (row["predicted_ms"] - row["true_ms"]) / row["true_ms"]
    if abs(row["error_percent"]) > options.tolerance:
        row["faults"].append(f"saving off by more than {options.tolerance:g} % of the measured difference")


def failed_row(cause, truth, reason):
    return {"cause": cause, "expected": truth.get("finding"), "found": [], "reason": None, "ranks": [], "step_off_ms": truth.get("step_ms_off"),
            "step_on_ms": truth.get("step_ms_on"), "reported_step_ms": None, "predicted_ms": None, "true_ms": None, "error_percent": None,
            "weak": False, "faults": [reason]}


def score(options, out, truth, recorded):
    rows = []
    for cause in options.cause:
        run = recorded.get(cause, {"error": "not recorded"})
        true = truth.get(cause, run)  # nothing is planted in controls, so there is nothing to measure
        if "error" in run:
            rows.append(failed_row(cause, true, f"recorded job: {run['error']}"))
            continue
        report, reason = analyze(options, out, cause)
        row = judge(options, cause, true, report) if report else failed_row(cause, true, reason)
        row["recorded_step_ms"] = run["step_ms_on"]
        rows.append(row)
    return rows


def table(rows):
    lines = ["| cause | step off, ms | step on, ms | recorded, ms | difference, ms | predicted, ms | error, % | found (reason, ranks) | expected | result |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        result = "FAIL: " + "; ".join(row["faults"]) if row["faults"] else "too weak" if row["weak"] else "PASS"
        where = ", ".join([row["reason"] or ""] * bool(row["reason"]) + [str(rank) for rank in row["ranks"]])
        found = ", ".join(row["found"]) + (f" ({where})" if where else "")
        lines.append(f"| {row['cause']} | {number(row['step_off_ms'])} | {number(row['step_on_ms'])} | {number(row.get('recorded_step_ms'))} | "
                     f"{number(row['true_ms'])} | {number(row['predicted_ms'])} | {number(row['error_percent'], '+.1f')} | {found or '-'} | "
                     f"{row['expected'] or 'nothing'} | {result} |".replace("\n", " "))
    return "\n".join(lines)


def run_everything(options, out):
    for name in ("recordings", "reports", "logs"):
        shutil.rmtree(out / name, ignore_errors=True)
    (out / "logs").mkdir(parents=True)
    untraced, traced = Group(options, options.world), Group(options, options.world, options.library, NCCL_LOG)
    untraced.start()
    traced.start()  # imports PyTorch meanwhile
    truth, recorded = {}, {}

    def keep(recorded):  # what a run that is cut off leaves can be judged
        (out / "truth.json").write_text(json.dumps({"world": options.world, "truth": truth, "recorded": recorded}, indent=1))

    try:
        truth = measure_truth(options, out, untraced)
        recorded = record(options, out, traced, keep)
    finally:
        untraced.kill()  # none of them has a child by now that is wanted
        traced.kill()
    return truth, recorded


def load(options, out):
    document = json.loads((out / "truth.json").read_text())
    options.cause = options.cause or list(document["recorded"])
    return document["truth"], document["recorded"]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder for ranks.md, results.json, truth.json, recordings/, reports/, logs/")
    parser.add_argument("--analyze", required=True, help="the analyze program")
    parser.add_argument("--library", help="libtraceinject.so; not needed to --rescore")
    parser.add_argument("--workload", help="ranks.py of the samples; not needed to --rescore")
    parser.add_argument("--world", type=int, default=2, help="ranks, a GPU each (default: 2)")
    parser.add_argument("--cause", action="append", choices=CASES, help="may be repeated (default: all)")
    parser.add_argument("--steps", type=int, default=30, help="recorded steps (default: 30)")
    parser.add_argument("--settle", type=int, default=6, help="recorded steps before them (default: 6)")
    parser.add_argument("--truth-steps", type=int, default=12, help="steps of an untraced block (default: 12)")
    parser.add_argument("--rounds", type=int, default=4, help="untraced blocks of each kind (default: 4)")
    parser.add_argument("--share", type=float, default=5, help="what a cause must cost, %% of its step (default: 5)")
    parser.add_argument("--tolerance", type=float, default=10, help="of the saving, %% of the measured difference (default: 10)")
    parser.add_argument("--rescore", action="store_true", help="only judge the recordings in OUT again")
    parser.add_argument("--timeout", type=int, default=90, help="seconds for a job, or for importing PyTorch (default: 90)")
    parser.add_argument("--truth-timeout", type=int, default=150, help="seconds for the untraced job of all causes (default: 150)")
    options = parser.parse_args()
    if not options.rescore and not (options.library and options.workload):
        parser.error("--library and --workload are needed to record")
    if not options.rescore:
        options.cause = options.cause or list(CASES)
    return options


def main():
    options = parse_options()
    out = pathlib.Path(options.out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    truth, recorded = load(options, out) if options.rescore else run_everything(options, out)
    rows = score(options, out, truth, recorded)
    failed = sum(bool(row["faults"]) for row in rows)
    weak = sum(row["weak"] and not row["faults"] for row in rows)
    passed = len(rows) - failed - weak
    (out / "ranks.md").write_text(table(rows) + "\n")
    (out / "results.json").write_text(json.dumps({"passed": passed, "failed": failed, "too_weak": weak, "causes": rows}, indent=1))
    print(table(rows))
    print(f"{passed} passed, {failed} failed, {weak} too weak to be judged")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
