#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares kernel time by function with what torch.profiler's stacks say (see profiler_functions.sh).

  profiler_functions.py check --library FILE --analyze FILE --out OUT    runs the programs below both ways and compares
  profiler_functions.py program NAME [--trace FILE]                      one of them; with a trace under torch.profiler, with_stack

Only the forward pass is compared. What autograd's threads launch is of no function in a trace, and what the optimizer launches takes
another share of the time in a run that the profiler slows down.
"""

import bisect
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

SELF = pathlib.Path(__file__).resolve()
WORKLOADS = SELF.parents[3] / "samples" / "workloads"
PROGRAMS = ("transformer", "nanogpt")
POINTS, LIMIT_S, STEPS, PROFILED = 3, 120, 120, 12
FUNCTION = re.compile(r"^(.*)\((\d+)\): (.*)$")
OUTSIDE = {"backward", "_engine_run_backward", "update"}  # functions that wait for autograd, or update the parameters
OPTIMIZERS = {"adam.py", "adamw.py", "optimizer.py", "sgd.py"}  # of PyTorch
OWN = ("transformer.py", "training_jobs.py", "model.py", SELF.name)  # files of the programs


# The programs: step(), called again and again.

def transformer(_):
    sys.path.insert(0, str(WORKLOADS))
    sys.argv = ["transformer.py", "--preset", "compute", "--steps", "100000", "--workers", "0"]
    import transformer as workload
    return workload.Trainer(workload.parse_options()).step


def nanogpt(folder):
    sys.path.insert(0, str(folder))
    import torch
    from model import GPT, GPTConfig
    model = GPT(GPTConfig(block_size=512, vocab_size=8192, n_layer=8, n_head=8, n_embd=768, dropout=0.1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(8192, (12, 513), device="cuda")

    def backward(loss):
        loss.backward()

    def update():
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def step():
        with torch.autocast("cuda", torch.bfloat16):
            _, loss = model(tokens[:, :-1], tokens[:, 1:].contiguous())
        backward(loss)
        update()

    return step


def run(name, folder, trace):
    import torch
    step = {"transformer": transformer, "nanogpt": nanogpt}[name](folder)
    for _ in range(10):
        step()
    torch.cuda.synchronize()
    if trace is None:
        for _ in range(STEPS):
            step()
        torch.cuda.synchronize()
        return
    with torch.profiler.profile(with_stack=True) as profiler:
        for _ in range(PROFILED):
            step()
        torch.cuda.synchronize()
    profiler.export_chrome_trace(str(trace))


# Of a trace.

class Thread:
    """The functions of Python that ran on it."""

    def __init__(self, events):
        self.events = sorted(events, key=lambda event: (event[0], -event[1]))
        self.starts = [event[0] for event in self.events]

    def at(self, time):
        """From the innermost one on."""
        for i in range(bisect.bisect_right(self.starts, time) - 1, -1, -1):
            if self.events[i][1] >= time:
                yield self.events[i][2]


def functions_of_trace(path):
    """Kernel time in us by function, as (file, first line), innermost and innermost of the program's own: two dicts."""
    events = json.loads(path.read_text())["traceEvents"]
    threads, launches = collections.defaultdict(list), {}
    for event in events:
        category = event.get("cat")
        if category == "python_function":
            parts = FUNCTION.match(event["name"])
            if parts:
                key = pathlib.PurePath(parts[1]).name, int(parts[2])
                own = key[0] in OWN and not parts[1].startswith("torch/") and "-packages/" not in parts[1]
                threads[event["tid"]].append((event["ts"], event["ts"] + event["dur"], (key, parts[3], own)))
        elif category in ("cuda_runtime", "cuda_driver"):
            launches[event["args"].get("correlation")] = event["tid"], event["ts"]
    threads = {tid: Thread(functions) for tid, functions in threads.items()}
    innermost, own = collections.Counter(), collections.Counter()
    for event in events:
        if event.get("cat") != "kernel" or event["args"].get("correlation") not in launches:
            continue
        tid, time = launches[event["args"]["correlation"]]
        on_stack = list(threads[tid].at(time)) if tid in threads else []
        if not on_stack or any(name in OUTSIDE for _, name, _ in on_stack):
            continue
        innermost[on_stack[0][0]] += event["dur"]
        own[next((key for key, _, is_own in on_stack if is_own), None)] += event["dur"]
    return innermost, own


# Of a recording.

def functions_of_recording(analyze, recording, full_stacks):
    command = [analyze, "code", str(recording), "--functions", "--limit", "0", "--format", "json",
               "--columns", "kernel_ns,function,file,first_line", *(["--full-stacks"] if full_stacks else [])]
    times = collections.Counter()
    for row in json.loads(subprocess.run(command, check=True, timeout=LIMIT_S, capture_output=True, text=True).stdout):
        file = pathlib.PurePath(row["file"]).name
        if row["kernel_ns"] and row["function"].rpartition(".")[2] not in OUTSIDE and file not in OPTIMIZERS:
            times[file, row["first_line"]] += row["kernel_ns"] / 1e3
    return times


def compare(checks, name, ours, theirs):
    total_ours, total_theirs = sum(ours.values()), sum(theirs.values())
    worst = 0.0
    for key in sorted(set(ours) | set(theirs), key=lambda key: -theirs[key]):
        one, other = 100 * ours[key] / total_ours, 100 * theirs[key] / total_theirs
        worst = max(worst, abs(one - other))
        if max(one, other) >= 1:
            print(f"  {name}: {key}: {one:.1f} % recorded, {other:.1f} % profiled")
    checks.add(f"{name}: shares within {POINTS} points", worst <= POINTS and total_theirs > 0, f"largest difference {worst:.2f} points", points=worst)


def check(library, analyze, out, folder):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "functions")
    for name in PROGRAMS:
        if name == "nanogpt" and folder is None:
            print("nanogpt: skipped, no --nanogpt FOLDER")
            continue
        recording, trace = out / f"{name}.db", out / f"{name}.json"
        recording.unlink(missing_ok=True)
        command = [sys.executable, str(SELF), "program", name, *(["--nanogpt", str(folder)] if folder else [])]
        environment = os.environ | {"LD_PRELOAD": str(library), "TRACEINJECT_OUTPUT": str(recording)}
        try:
            subprocess.run(command, env=environment, check=True, timeout=LIMIT_S, capture_output=True, text=True)
            subprocess.run([*command, "--trace", str(trace)], check=True, timeout=LIMIT_S, capture_output=True, text=True)
        except subprocess.SubprocessError as error:
            checks.add(f"{name}: runs", False, f"{error}: {getattr(error, 'stderr', '')}"[-500:])
            continue
        innermost, own = functions_of_trace(trace)
        compare(checks, f"{name}, own functions", functions_of_recording(analyze, recording, False), own)
        compare(checks, f"{name}, innermost functions", functions_of_recording(analyze, recording, True), innermost)
        trace.unlink()
    return summary(log, out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__, "analyze")
    checking.add_argument("--nanogpt", type=pathlib.Path, help="a checkout of nanoGPT")
    program = commands.add_parser("program")
    program.add_argument("name", choices=PROGRAMS)
    program.add_argument("--nanogpt", type=pathlib.Path)
    program.add_argument("--trace", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "program":
        run(arguments.name, arguments.nanogpt, arguments.trace)
        return 0
    return check(arguments.library, arguments.analyze, arguments.out, arguments.nanogpt)


if __name__ == "__main__":
    sys.exit(main())
