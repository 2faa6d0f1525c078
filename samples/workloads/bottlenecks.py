#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains small models on synthetic data with one planted bottleneck at a time, and prints what the bottleneck costs.

Each cause has a knob; 0 is off. Blocks of steps with the knob at 0 and at its value run in turn in one process (--schedule), each
after a few steps that are not timed, so the difference of their step times is what removing the cause would save:

  what each cause costs     python3 bottlenecks.py
  one cause, to be recorded python3 bottlenecks.py --cause sync --schedule on --steps 60
  stronger                  python3 bottlenecks.py --cause gc=3000
  on a late host            python3 bottlenecks.py --cause sync --load medium --schedule rest,off,on,off

One line of JSON a cause is printed: step times are wall-clock milliseconds a step, with a synchronisation before and after each
block and none in between that is not planted. "Off" does the same work without the fault: the batch is there but its decoding is
not; the copy comes from pinned memory; the statistics stay on the GPU; nothing is saved, freed or collected; the same is computed in
a better type, shape or kernel. The program that is bound by launches is, when off, the very same step captured into a CUDA graph: its
saving is the cost of launching one by one.

With --load, busy processes run beside all blocks but those named rest, which do what off does.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
import traceback

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from host_load import LOADS, HostLoad  # noqa: E402
from planted_causes import CAUSES  # noqa: E402

STATES = ("rest", "off", "on")


class Counts:
    """What the whole run of a cause did, to hold a recording against."""

    def __init__(self):
        self.batches = self.steps = self.optimizer_steps = 0
        self.data_wait_ms = 0.0

    def end_optimizer_step(self, *_):
        self.optimizer_steps += 1

    def next(self, batches):
        began = time.perf_counter()
        batch = next(batches)
        self.data_wait_ms += (time.perf_counter() - began) * 1e3
        self.batches += 1
        return batch


def run_block(cause, job, knob, options, counts):
    """Milliseconds a step, and when its first step and its last begin and end (ns since 1970)."""
    batches = iter(cause.loader(job, knob, options.settle + options.steps))
    began = None
    cause.start(job, knob)
    try:
        for index in range(-options.settle, options.steps):
            if index == 0:
                torch.cuda.synchronize(job.device)
                began, began_ns = time.perf_counter(), time.time_ns()
            with torch.cuda.nvtx.range(f"step {index + options.settle}") if options.nvtx else contextlib.nullcontext():
                cause.step(job, knob, counts.next(batches))
                cause.after_step(job, knob, index)
            counts.steps += 1
        torch.cuda.synchronize(job.device)
        return {"step_ms": (time.perf_counter() - began) * 1e3 / options.steps, "start_unix_ns": began_ns, "end_unix_ns": time.time_ns()}
    finally:
        cause.stop(job)


def run_cause(text, options, jobs, device):
    name, knob = named_cause(text)
    cause, counts = CAUSES[name](options, knob), Counts()
    hook = register_optimizer_step_post_hook(counts.end_optimizer_step)
    control = CAUSES[name].knob == 0
    key = cause.key_of_job()
    if key not in jobs:
        jobs[key] = cause.job(device, options, knob)
    job, blocks, load = jobs[key], [], HostLoad(options.load)
    try:
        for state in options.schedule * options.rounds:
            if control and state == "off":
                continue
            if state != "rest" and not load.processes:
                load.start()
            elif state == "rest":
                load.stop()
            blocks.append({"state": state, **run_block(cause, job, knob if state == "on" else 0, options, counts)})
    finally:
        load.stop()
        hook.remove()
    step_ms = {state: [block["step_ms"] for block in blocks if block["state"] == state] for state in STATES}
    means = {f"step_ms_{state}": statistics.mean(each) if each else None for state, each in step_ms.items()}
    return {
        "cause": text, "label": cause.label, "control": control, "knob": knob, "unit": cause.unit, "load": options.load, **means,
        "blocks_off": step_ms["off"], "blocks_on": step_ms["on"], "blocks": blocks, "steps": options.steps, "settle": options.settle,
        "total_steps": counts.steps, "optimizer_steps": counts.optimizer_steps,
        "total_batches": counts.batches, "data_wait_ms": counts.data_wait_ms,
        "loss": float(job.loss), "gpu": torch.cuda.get_device_name(device), "torch": torch.__version__,
    }


def named_cause(text):
    """("gc", 3000.0) of "gc=3000"; of "gc", with the knob of the cause."""
    name, given, knob = text.partition("=")
    if name not in CAUSES:
        raise argparse.ArgumentTypeError(f"{name} is no cause; --list prints them")
    if not given:
        return name, CAUSES[name].knob
    try:
        strength = float(knob)
    except ValueError:
        strength = 0
    if strength <= 0 or CAUSES[name].knob == 0:
        raise argparse.ArgumentTypeError(f"{text}: a cause, not a control, takes a strength above 0; --schedule off runs with nothing planted")
    return name, strength


def cause_argument(text):
    named_cause(text)
    return text


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cause", action="append", type=cause_argument, metavar="CAUSE[=KNOB]",
                        help="with its strength in its unit (--list); may be repeated (default: all, with theirs)")
    parser.add_argument("--schedule", default="off,on", help="blocks of a round: rest, off, on in any order (default: off,on)")
    parser.add_argument("--load", choices=LOADS, default="none", help="busy processes: light: one for every second processor; medium: one for "
                        "each; heavy: two for each (default: none)")
    parser.add_argument("--rounds", type=int, default=1, help="how often the schedule runs (default: 1)")
    parser.add_argument("--steps", type=int, default=20, help="timed steps of a block (default: 20)")
    parser.add_argument("--settle", type=int, default=6, help="steps before them (default: 6)")
    parser.add_argument("--workers", type=int, help="of the data loader causes (default: 0 or 2, by cause)")
    parser.add_argument("--start-method", choices=["fork", "spawn"], help="of data loader workers (default: Python's)")
    parser.add_argument("--nvtx", action="store_true", help='push an NVTX range "step N" around every step')
    parser.add_argument("--list", action="store_true", help="print the causes and leave")
    options = parser.parse_args()
    options.cause = options.cause or list(CAUSES)
    options.schedule = options.schedule.split(",")
    if not set(options.schedule) <= set(STATES):
        parser.error(f"--schedule takes {', '.join(STATES)}, separated by commas")
    if options.rounds < 1 or options.steps < 1 or options.settle < 1:
        parser.error("--rounds, --steps and --settle must be at least 1")
    for name, _ in map(named_cause, options.cause):
        if options.steps % CAUSES[name].least_period:
            parser.error(f"--steps must be a multiple of {CAUSES[name].least_period} for {name}")
    return options


def main():
    options = parse_options()
    if options.list:
        for name, cause in CAUSES.items():
            print(f"{name:17} {cause.label:21} {f'{cause.knob} {cause.unit}' if cause.knob else 'control'}: {cause.__doc__}")
        return 0
    if not torch.cuda.is_available():
        sys.exit("bottlenecks.py: needs a CUDA device")
    device, jobs, failed = torch.device("cuda", 0), {}, 0
    torch.cuda.set_device(device)
    for name in options.cause:
        try:
            result = run_cause(name, options, jobs, device)
        except Exception as error:  # the others are still worth running
            traceback.print_exc()
            result = {"cause": name, "error": f"{type(error).__name__}: {error}"}
            failed += 1
        print(json.dumps(result), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
