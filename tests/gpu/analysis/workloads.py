#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what `analyze` says of recorded runs of samples/workloads against what the programs measure themselves (see workloads.sh).

  workloads.py --library FILE --analyze FILE --out OUT    runs the programs, untraced and traced, and compares
  workloads.py --rescore --analyze FILE --out OUT         judges the recordings of an earlier run in OUT again; needs no GPU

A program says with --figures how long its timed steps took, on the clock and each by CUDA events, and counts the FLOPs of one with
torch.utils.flop_counter after them. It marks nothing: steps are found by `analyze`.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import verdict  # noqa: E402
from checks import Checks, summary  # noqa: E402
from fork_client import json_lines  # noqa: E402

WORKLOADS = pathlib.Path(__file__).resolve().parents[3] / "samples" / "workloads"
TOLERANCE = 0.02
ROUNDING = 0.005  # by which a lower bound may seem to exceed the truth
UNCLASSIFIED = 0.01
LIMIT_S = 100
ANALYZE_LIMIT_S = 60
EXACT, PARTIAL, BOUND = "exact", "partial", "bound"
HOST_CAUSES = ("launch", "python")


@dataclasses.dataclass(frozen=True)
class Program:
    arguments: list
    # What `analyze` can know of its FLOPs. EXACT: all. PARTIAL: not those of compiled code, of convolutions, or of replayed CUDA graphs,
    # which it has to say. BOUND: whatever it knows, never more than there are.
    flops: str = BOUND
    idle: tuple = ()  # one of these causes of idle was planted and has to lead
    label: str = ""  # of the verdict; empty: nothing was planted
    gpus: int = 1
    collectives: tuple = ()


TRANSFORMER = ["transformer.py", "--steps", "30", "--figures"]
PROGRAMS = {
    "transformer": Program(TRANSFORMER, EXACT),
    # Of six layers, which are compiled in a third of the time that all take.
    "compiled": Program([*TRANSFORMER, "--layers", "6", "--compile"], PARTIAL),
    "vit": Program(["images.py", "--model", "vit", "--figures"], EXACT),
    "resnet": Program(["images.py", "--model", "resnet", "--figures"], PARTIAL),
    "slow_images": Program(["images.py", "--model", "resnet", "--workers", "1", "--image-size", "1024", "--batch", "8", "--files", "8",
                            "--warmup", "5", "--steps", "20", "--figures"], idle=("data wait",), label="dataloader"),
    "rnn": Program(["rnn.py", "--figures"], idle=HOST_CAUSES, label="launch_bound"),
    # More and shorter steps, so that the replays are most of the work and not the launched steps before them.
    "rnn_graph": Program(["rnn.py", "--graph", "--sequence", "32", "--steps", "60", "--figures"], PARTIAL),
    # Twice the preset's batch: with the preset's, a slow host launches too late for two GPUs.
    "ddp": Program([*TRANSFORMER, "--batch", "8", "--ddp"], EXACT, gpus=2, collectives=("AllReduce",)),
    "fsdp": Program([*TRANSFORMER, "--batch", "8", "--fsdp"], EXACT, gpus=2, collectives=("AllGather", "ReduceScatter")),
}


def run(program, output, traced):
    """The figures that the program printed. `traced`: environment of the recording, or nothing."""
    script, *arguments = program.arguments
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(program.gpus)] if program.gpus > 1 else []
    variables = {name: value for name, value in os.environ.items() if not name.startswith("TRACEINJECT")} | traced
    code = verdict.run_group([sys.executable, *launcher, str(WORKLOADS / script), *arguments], variables, output, LIMIT_S)
    printed = output.read_text()
    lines = json_lines(printed)
    if code != 0 or not lines:
        raise RuntimeError(f"exit code {code}: {printed.strip()[-400:]}")
    return lines[-1]


def analyzed(analyze, recording, report, *options):
    """The report of `analyze`, as JSON. It is kept for people in `report`, and as text beside it."""
    for style, path in (("text", report.with_suffix(".txt")), ("json", report)):
        ended = subprocess.run([analyze, str(recording), *options, "--format", style], capture_output=True, text=True,
                               timeout=ANALYZE_LIMIT_S)
        if ended.returncode != 0:
            raise RuntimeError(f"analyze: exit code {ended.returncode}: {ended.stderr.strip()[-200:]}")
        path.write_text(ended.stdout)
    return json.loads(ended.stdout)


def number(message, name):
    """A field of a report: 64-bit integers are strings there."""
    return int(message.get(name) or 0)


def timed_steps(report, figures):
    """Numbers, as --steps takes them, of the first and the last step that lie in the timed part of the program; or None.

    Not by counting: the recording begins somewhere in the warm-up, which is not to count.
    """
    origin = int(report["run"]["origin_unix_ns"])
    begin, end = figures["begin_unix_ns"] - origin, figures["end_unix_ns"] - origin
    device = report["steps"][0]
    if device["source"] == "whole window":
        return None
    middles = [number(step, "start_ns") + number(step, "length_ns") // 2 for step in device["steps"]]
    inside = [number(device, "first") + at for at, middle in enumerate(middles) if begin <= middle < end]
    return (inside[0], inside[-1]) if inside else None


def ratio(reported, true):
    return reported / true - 1 if true else float("inf")


def judge_steps(checks, name, figures, report):
    device, steps = report["steps"][0], figures["steps"]
    found = len(device["steps"])
    checks.add(f"{name}: steps", steps - 1 <= found <= steps, f"{found} found by {device['source']}, {steps} done")
    for what, told_ns, true_ms in (("median", number(device, "median_ns"), figures["median_step_ms"]),
                                   ("mean", sum(number(step, "length_ns") for step in device["steps"]) / max(1, found),
                                    figures["seconds"] * 1e3 / steps)):
        error = ratio(told_ns / 1e6, true_ms)
        checks.add(f"{name}: {what} step", abs(error) <= TOLERANCE,
                   f"{told_ns / 1e6:.3f} ms reported, {true_ms:.3f} ms by {'CUDA events' if what == 'median' else 'the clock'}: "
                   f"{error:+.2%}", error=error)


def judge_flops(checks, name, program, figures, report):
    """FLOPs known to `analyze` against those that torch counted, and what share of the peak both are."""
    products, mfu = report["run"].get("matrix_products", {}), report["mfu"]
    counted = program.gpus * sum(figures["flops"].values())
    known, unknown = products.get("flops_per_step", 0), products.get("unknown_share", 0)
    operators = ", ".join(f"{operator} {flops / sum(figures['flops'].values()):.1%}" for operator, flops in figures["flops"].items())
    checks.note(f"{name}: counted", f"{counted:.6g} FLOP a step: {operators}")
    error = ratio(known, counted)
    told = f"{known:.6g} FLOP known, {counted:.6g} counted by torch: {error:+.3%}; {unknown:.2%} of the kernel time of unknown FLOPs"
    if program.flops == EXACT:
        checks.add(f"{name}: FLOPs of a step", abs(error) <= TOLERANCE, told, error=error)
    else:
        checks.add(f"{name}: FLOPs of a step", error <= ROUNDING and (program.flops == BOUND or unknown > 0), told, error=error)
    peak = report["devices"][0].get("peaks", {}).get("bf16_tflops")
    if peak is None:
        return checks.skip(f"{name}: MFU", "the peak rate of this GPU is not known")
    true = counted * figures["steps"] / figures["seconds"] / (program.gpus * peak * 1e12)
    reached = products.get("peak_share")
    if reached is None:
        # Of a program whose products are all in a CUDA graph nothing is known, and no share is given.
        checks.add(f"{name}: MFU", program.flops != EXACT and known == 0, f"none reported, {true:.2%} by counter and clock: "
                   f"{products.get('peak_reason') or 'nothing is known'}")
    else:
        error = ratio(reached, true)
        passed = abs(error) <= TOLERANCE if program.flops == EXACT else error <= TOLERANCE
        least = "" if program.flops == EXACT else "at least "
        checks.add(f"{name}: MFU", passed, f"{least}{reached:.3%} reported, {true:.3%} by counter and clock: {error:+.2%}", error=error)
    given = mfu.get("mfu_percent", 0) / 100
    error = ratio(given, true)
    checks.add(f"{name}: MFU of given FLOPs", abs(error) <= TOLERANCE,
               f"{given:.3%} reported, {true:.3%} by counter and clock: {error:+.2%} {mfu.get('reason', '')}", error=error)


def rest_of(split, wall):
    """What the parts of a split leave of its wall time: 0."""
    parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns", "unrecorded_ns")
    return number(split, wall) - sum(number(split, part) for part in parts)


def judge_partition(checks, name, report):
    rests = [rest_of(one["partition"], "wall_ns") for one in (report["run"], *report["devices"])]
    for device in report["steps"]:
        for split in (device["sum"], *device["steps"]):
            rests += [rest_of(split, "length_ns"), number(split, "idle_ns") - sum(number(part, "ns") for part in split.get("idle", []))]
    checks.add(f"{name}: the parts of time add up", not any(rests), f"{len(rests)} sums, {sum(rest != 0 for rest in rests)} of them wrong")
    share = report["run"]["kernels"].get("unclassified_share", 0)
    checks.add(f"{name}: kernels of a known class", share < UNCLASSIFIED, f"{share:.3%} of the kernel time unclassified", share=share)


def causes_of_idle(report):
    """{cause: nanoseconds} of all GPUs, largest first."""
    causes = {}
    for device in report["steps"]:
        for part in device["sum"].get("idle", []):
            causes[part["cause"]] = causes.get(part["cause"], 0) + number(part, "ns")
    return dict(sorted(causes.items(), key=lambda one: -one[1]))


def judge_causes(checks, name, program, report):
    causes, label = causes_of_idle(report), report.get("verdict", {}).get("label", "")
    length = sum(number(device["sum"], "length_ns") for device in report["steps"])
    told = ", ".join(f"{cause} {ns / max(1, length):.1%}" for cause, ns in list(causes.items())[:4]) or "never idle"
    if not program.idle:
        return checks.note(f"{name}: idle", f"{told} of the time; {label}")
    checks.add(f"{name}: cause of idle", next(iter(causes), "") in program.idle,
               f"{told} of the time; planted: {' or '.join(program.idle)}")
    checks.add(f"{name}: verdict", label == program.label, f"{label}; planted: {program.label}")


def judge_collectives(checks, name, program, report):
    nccl = report["run"].get("nccl", {})
    seen = {row["function"]: number(row, "count") for row in nccl.get("rows", [])}
    for function in program.collectives:
        count = sum(number_of for told, number_of in seen.items() if function in told)
        checks.add(f"{name}: {function}", count > 0, f"{count} launches")
    share = report["run"]["partition"].get("exposed_communication_share", 0)
    checks.note(f"{name}: communication", f"{number(nccl, 'kernels')} kernels, {share:.1%} of the time exposed")


def judge(checks, name, program, figures, report):
    """`report`: of the timed steps only."""
    judge_steps(checks, name, figures, report)
    judge_flops(checks, name, program, figures, report)
    judge_partition(checks, name, report)
    judge_causes(checks, name, program, report)
    if program.collectives:
        judge_collectives(checks, name, program, report)


def record(name, program, out, library, checks):
    """Leaves the recording and the figures of the traced run in a folder."""
    plain = run(program, out / "plain.log", {})
    traced = run(program, out / "traced.log", {"LD_PRELOAD": str(library), "TRACEINJECT_OUTPUT": str(out / "run.db")})
    (out / "figures.json").write_text(json.dumps({"plain": plain, "traced": traced}, indent=1))
    checks.add(f"{name}: same work traced", plain["flops"] == traced["flops"], "FLOPs of a step by operator")
    checks.note(f"{name}: median step", f"{plain['median_step_ms']:.3f} ms untraced, {traced['median_step_ms']:.3f} ms traced")


def compare(name, program, out, analyze, checks):
    figures = json.loads((out / "figures.json").read_text())["traced"]
    whole = analyzed(analyze, out / "run.db", out / "whole.json")
    steps = timed_steps(whole, figures)
    if not steps:
        return checks.add(f"{name}: steps", False, f"none found in the timed part; source: {whole['steps'][0]['source']}")
    checks.note(f"{name}: recorded", f"{whole['steps'][0]['count']} steps, {figures['warmup']} + {figures['steps']} done; "
                f"{whole.get('verdict', {}).get('label', '')} of all of it")
    flops = program.gpus * sum(figures["flops"].values())
    judge(checks, name, program, figures,
          analyzed(analyze, out / "run.db", out / "report.json", "--steps", f"{steps[0]}..{steps[1]}", "--flops-per-step", str(flops)))


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "workloads")
    for name in options.program or PROGRAMS:
        program, out = PROGRAMS[name], options.out / name
        if options.rescore and not (out / "figures.json").exists():
            continue
        if not options.rescore and program.gpus > options.gpus:
            checks.skip(name, f"needs {program.gpus} GPUs, {options.gpus} found")
            continue
        try:
            if not options.rescore:
                shutil.rmtree(out, ignore_errors=True)
                out.mkdir()
                record(name, program, out, options.library.resolve(), checks)
            compare(name, program, out, options.analyze.resolve(), checks)
        except (subprocess.SubprocessError, OSError, RuntimeError, ValueError, KeyError, IndexError) as error:
            checks.add(f"{name}: runs", False, f"{type(error).__name__}: {error}")
    return summary(log, options.out / "results.json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, help="libtraceinject.so; not needed to --rescore")
    parser.add_argument("--analyze", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--gpus", type=int, default=1, help="GPUs of this machine (default: 1)")
    parser.add_argument("--program", action="append", choices=PROGRAMS, help="may be repeated (default: all)")
    parser.add_argument("--rescore", action="store_true", help="only judge the recordings in OUT again")
    options = parser.parse_args()
    if not options.rescore and not options.library:
        parser.error("--library is needed to record")
    options.out = options.out.resolve()
    return check(options)


if __name__ == "__main__":
    sys.exit(main())
