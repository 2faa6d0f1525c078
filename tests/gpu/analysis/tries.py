#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`analyze try` on planted bottlenecks and on programs by others (see tries.sh).

  tries.py check --library FILE --analyze FILE --out OUT [option]...

A lever passes if it was applied (the recording says where), measured, and, where the verdict foretold its saving, if that is within
10 % of the step. A row a lever is printed as a table at the end.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

import others_verdicts  # noqa: E402
from checks import Checks, command_line, summary  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
OTHERS = pathlib.Path(others_verdicts.__file__)
FOREVER = "1000"  # seconds: analyze try ends the programs
LIMIT_S = 280     # of all runs of one case
NEAR = 0.10


class Case:
    def __init__(self, command, fixes, prepare=None, missing=""):
        self.command, self.fixes, self.prepare, self.missing = [sys.executable, *map(str, command)], fixes, prepare, missing


def planted(cause, fixes):
    workload = ROOT / "samples" / "workloads" / "bottlenecks.py"
    return Case([workload, "--cause", cause, "--schedule", "on", "--steps", "1000"], fixes)


def package(name, fixes):
    return Case([OTHERS, "program", name, FOREVER, "as-is"], fixes)


def script(folder, name, arguments, fixes, prepare=None):
    path = folder / name if folder else None
    there = path is not None and path.is_file()
    return Case([path, *arguments], fixes, prepare, "" if there else "no checkout was given")


def cases(options):
    nanogpt = ["--dataset=made_up", "--n_layer=6", "--n_head=6", "--n_embd=384", "--block_size=256", "--batch_size=8",
               "--gradient_accumulation_steps=1", "--dropout=0.0", "--max_iters=100000", "--eval_interval=100000", "--eval_iters=1",
               "--device=cuda", "--compile=False"]
    photos = ["--data-dir", "images", "--model", "resnet18", "--num-classes", "4", "-b", "32", "--epochs", "100", "--output", "output", "--amp"]
    return {
        "dataloader_cpu": planted("dataloader_cpu", "num_workers=4,prefetch_factor=4+persistent_workers=1+num_workers=2"),
        "h2d_copy": planted("h2d_copy", "pin_memory=1,pin_memory=1+non_blocking=1"),
        "allocator": planted("allocator", "empty_cache=0,alloc_conf=expandable_segments:True"),
        "checkpoint": planted("checkpoint", "checkpoints=none"),
        "gc": planted("gc", "gc_threshold=0,gc_freeze=5"),
        "launch": planted("launch", "compile=reduce-overhead,fused_optimizer=1"),
        "optimizer": planted("optimizer", "fused_optimizer=1,foreach_optimizer=1"),
        "gelu": planted("gelu", "compile=default"),
        "conv": planted("conv", "channels_last=1,cudnn_benchmark=1"),
        "trainer": package("trainer", "num_workers=8"),
        "lightning": package("lightning", "matmul_precision=high"),
        "geometric": package("geometric", "num_workers=8,num_workers=8+persistent_workers=1"),
        "nanogpt": script(options.nanogpt, "train.py", nanogpt, "compile=default",
                          lambda folder: others_verdicts.prepare_tokens(options.nanogpt, folder)),
        "timm": script(options.timm, "train.py", [*photos, "--workers", "1"], "num_workers=12", others_verdicts.prepare_photos),
        "imagenet": script(options.examples and options.examples / "imagenet", "main.py", ["--dummy", "-a", "resnet50", "-b", "128", "-j", "1"],
                           "num_workers=12,autocast=bf16"),
    }


def run_case(options, name, case):
    """What `analyze try` says; None with why not."""
    folder = options.out / name
    folder.mkdir(parents=True, exist_ok=True)
    if case.prepare:
        case.prepare(folder)
    command = [options.analyze, "try", "--no-progress", "--format", "json", "--fixes", case.fixes, "--repeat", str(options.repeat),
               "--steps", str(options.steps), "--warm-up", "10", "-o", options.out / "tries" / name, "--html", options.out / f"{name}.html",
               "--", *case.command]
    environment = {**os.environ, "TRACEINJECT_LIBRARY": str(options.library), "TRANSFORMERS_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
    try:
        ended = subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, f"not done after {LIMIT_S} s"
    (options.out / f"{name}.txt").write_text(ended.stderr)
    if ended.returncode != 0:
        return None, ended.stderr.strip()[-600:]
    (options.out / f"{name}.json").write_text(ended.stdout)
    return json.loads(ended.stdout), ""


def ms(fix, name):
    return int(fix[name]) / 1e6 if name in fix else None


def time_text(fix, name):
    middle, low, high = (ms(fix, f"{name}{end}_ns") for end in ("", "_low", "_high"))
    if middle is None:
        return "-"
    return f"{middle:.2f}" if low is None else f"{middle:.2f} ({low:.2f} to {high:.2f})"


def judge(checks, name, result):
    """Rows of the table, and (|predicted - measured| of the step, within the predicted interval) of each prediction."""
    rows, scores = [], []
    step = ms(result["as_is"], "step_ns")
    for fix in result["fixes"]:
        saved, predicted = ms(fix, "saved_ns"), ms(fix, "predicted_ns")
        off = None if saved is None or predicted is None else (predicted - saved) / step
        detail = f"{fix['outcome']}, {fix['applied'] or fix['reason']}; saves {time_text(fix, 'saved')} of {step:.2f} ms"
        if off is not None:
            detail += f", predicted {time_text(fix, 'predicted')}, off by {100 * off:+.1f} % of the step"
            scores.append((abs(off), ms(fix, "predicted_low_ns") <= saved <= ms(fix, "predicted_high_ns")))
        checks.add(f"{name}: {fix['tried']}", fix["outcome"] == "measured" and (off is None or abs(off) <= NEAR), detail)
        most = ms(fix, "most_ns")
        foretold = time_text(fix, "predicted") if predicted is not None else f"up to {most:.2f}" if most is not None else "-"
        rows.append(f"| {name} | {fix['tried']} | {result['as_is']['verdict']} | {step:.2f} | {foretold} | {time_text(fix, 'saved')} | "
                    f"{'-' if off is None else f'{100 * off:+.1f}'} | {fix['losses'] or '-'} | {fix['run'].get('verdict') or '-'} |")
    return rows, scores


def check(options):
    checks = Checks(options.out / "checks.jsonl", "tries")
    rows, scores = [], []
    for name, case in cases(options).items():
        if options.case and name not in options.case:
            continue
        if case.missing:
            checks.skip(name, case.missing)
            continue
        result, why_not = run_case(options, name, case)
        if result is None:
            checks.add(name, False, why_not)
            continue
        more_rows, more_scores = judge(checks, name, result)
        rows += more_rows
        scores += more_scores
    print("\n| program | lever | verdict | step, ms | predicted, ms | measured, ms | error, % of the step | losses | verdict then |\n"
          "|---|---|---|---|---|---|---|---|---|", *rows, sep="\n")
    if scores:
        errors = [error for error, _ in scores]
        checks.note("predictions", f"of {len(scores)}: off by {100 * statistics.median(errors):.1f} % of the step in the middle, "
                    f"{sum(error <= NEAR for error in errors)} within 10 %, {sum(held for _, held in scores)} within the predicted interval")


def main():
    parser, _, checking = command_line(__doc__, "analyze")
    for name in ("nanogpt", "timm", "examples"):
        checking.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).resolve())
    checking.add_argument("--case", action="append", help="only this one; may be repeated")
    checking.add_argument("--repeat", type=int, default=2, help="runs of each (default: 2)")
    checking.add_argument("--steps", type=int, default=30, help="of each run (default: 30)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "checks.jsonl").write_text("")
    check(options)
    return summary(options.out / "checks.jsonl", options.out / "results.json")


if __name__ == "__main__":
    sys.exit(main())
