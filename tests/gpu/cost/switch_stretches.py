#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording costs the host over CUPTI's records of kernels alone, measured many times inside each step.

A step that is bound by launches takes as long as the host does. On shared machines one and the same step takes 50 ms in one second and
90 ms in the next, so that steps of two settings (switch_kinds.py) tell a per cent apart after half an hour. Here every step is cut into
some eighty stretches: a layer forward, a layer backward, the optimizer on ten parameters. Each runs under a setting drawn at random,
and the stretches of a step are compared with each other, in units of what each takes at the median. Printed is the median over the
steps, with a 95 % interval (percentile bootstrap over steps), of all stretches and of each part of the step. What other threads cost
(samples, the writer) is in all settings alike, and is not told.

    LD_PRELOAD=libtraceinject.so TRACEINJECT_MEMSETS=all python3 switch_stretches.py --seconds 100
    LD_PRELOAD=libtraceinject.so TRACEINJECT_MEMSETS=all torchrun --nproc-per-node 2 switch_stretches.py --ddp --steps 1500
"""

import argparse
import gc
import math
import os
import pathlib
import random
import re
import statistics
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import switch_kinds  # noqa: E402
import switch_sources  # noqa: E402
import turns  # noqa: E402

# What is on in a stretch: our records of the calls that a step makes by the thousand, and what we take without CUPTI.
SETTINGS = {
    "kernel": set(),
    "default": {"calls", "gemm", "attention", "program"},
    "kernel,calls": {"calls"},
    "kernel,gemm": {"gemm"},
    "kernel,attention": {"attention", "program"},
}
SAMPLES = switch_sources.DEVICES | switch_sources.SLOW | switch_sources.HOST  # of other threads
PARAMETERS = 10  # a stretch of the optimizer
CLASSES = ("kLaunch", "kMemset", "kCopy")


def counted_calls():
    """(domain, callback id) of the calls that come many times a step."""
    text = (switch_kinds.ROOT / "injector" / "cupti" / "allow_list.h").read_text()
    return [(domain, int(cbid)) for domain, cbid, of_class in
            re.findall(r"CudaDomain::k(\w+), (\d+),\s*\"\w+\",\s*CallClass::(\w+)", text) if of_class in CLASSES]


class Switch:
    def __init__(self):
        self.sources = switch_sources.Switch()
        cupti = switch_kinds.load_cupti()
        self.enable = [(getattr(cupti, f"cuptiActivityEnable{domain}Api"), cbid) for domain, cbid in counted_calls()]

    def to(self, setting):
        on = SETTINGS[setting]
        for enable, cbid in self.enable:
            enable(cbid, int("calls" in on))
        sources = SAMPLES | (switch_sources.GEMM if "gemm" in on else 0) | (switch_sources.PREVIOUS if "program" in on else 0)
        self.sources.use(sources, "attention" in on)

    def all_on(self):
        self.to("default")
        self.sources.to("all")


class Stretches:
    """Cuts the steps of a trainer; times() are those of the last step: [(place, setting, ns)]."""

    def __init__(self, trainer, switch, settings):
        self.switch, self.settings, self.draw = switch, settings, random.Random(os.environ.get("RANK", "0"))
        self.open, self.taken = None, []
        replica = trainer.replicas[0]
        for index, block in enumerate(replica.model.blocks):
            block.forward = self.cut_block(block.forward, index)
        replica.backward = self.cut_backward(replica.backward)
        replica.optimizer = SplitOptimizer(replica.optimizer, self)

    def begin(self, place):
        setting = self.draw.choice(self.settings)
        self.switch.to(setting)
        self.open = place, setting, time.perf_counter_ns()

    def end(self):
        now = time.perf_counter_ns()
        place, setting, begin = self.open
        self.taken.append((place, setting, now - begin))

    def cut_block(self, forward, index):
        def cut(x):
            self.begin(("forward", index))
            y = forward(x)
            self.end()
            if y.requires_grad:
                y.register_hook(lambda gradient: self.next_in_backward(index))
            return y

        return cut

    def next_in_backward(self, index):
        """The gradient of a layer's output is there: what comes now is its backward."""
        self.end()
        self.begin(("backward", index))

    def cut_backward(self, backward):
        def cut():
            self.begin(("backward", "head"))
            backward()
            self.end()

        return cut

    def times(self):
        taken, self.taken = self.taken, []
        return taken


class SplitOptimizer:
    def __init__(self, optimizer, stretches):
        group = optimizer.param_groups[0]
        parameters = group["params"]
        settings = {name: value for name, value in group.items() if name in ("lr", "betas", "eps", "weight_decay", "amsgrad", "foreach",
                                                                               "fused")}
        self.parts = [type(optimizer)(parameters[i:i + PARAMETERS], **settings) for i in range(0, len(parameters), PARAMETERS)]
        self.stretches = stretches

    def step(self):
        for index, part in enumerate(self.parts):
            self.stretches.begin(("optimizer", index))
            part.step()
            self.stretches.end()

    def zero_grad(self, set_to_none):
        for part in self.parts:
            part.zero_grad(set_to_none=set_to_none)


def measure(options, settings):
    """The stretches of each step."""
    import transformer

    sys.argv = ["transformer.py", "--preset", "launch-bound", "--steps", str(10**6), "--workers", "0", *(["--ddp"] if options.ddp else [])]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(15):
        trainer.step()
    switch = Switch()
    stretches = Stretches(trainer, switch, settings)
    gc.collect()
    gc.freeze()
    gc.disable()
    for _ in range(5):
        trainer.step()
    stretches.times()
    steps, end = [], time.monotonic() + options.seconds
    while len(steps) < options.steps and time.monotonic() < end:
        trainer.step()
        steps.append(stretches.times())
    trainer.synchronise()
    switch.all_on()
    return steps


def usual_ns(steps):
    """{place: median ns}"""
    times = {}
    for step in steps:
        for place, _, ns in step:
            times.setdefault(place, []).append(ns)
    return {place: statistics.median(of_place) for place, of_place in times.items()}


def costs(steps, usual, setting, floor, part):
    """Of each step, by how much of their usual time the stretches of `setting` took longer than those of `floor`."""
    found = []
    for step in steps:
        level = {}
        for which in (setting, floor):
            mine = [(ns, usual[place]) for place, of, ns in step if of == which and part in (place[0], "step")]
            if mine:
                level[which] = sum(ns for ns, _ in mine) / sum(base for _, base in mine)
        if len(level) == 2:
            found.append(level[setting] - level[floor])
    return found


def table(steps, settings, floor):
    usual = usual_ns(steps)
    parts = ["step", *dict.fromkeys(place[0] for place in usual)]
    whole = {part: sum(ns for place, ns in usual.items() if part in (place[0], "step")) for part in parts}
    lines = [f"launch-bound, one process of {os.environ.get('WORLD_SIZE', '1')}, {len(steps)} steps of {len(usual)} stretches; in stretches: "
             + ", ".join(f"{part} {whole[part] / 1e6:.2f} ms" for part in parts), "",
             "| setting | " + " | ".join(f"{part}, % over {floor} (95 %)" for part in parts) + " |", "|---" * (len(parts) + 1) + "|"]
    for setting in settings:
        if setting == floor:
            continue
        cells = []
        for part in parts:
            found = [100 * cost for cost in costs(steps, usual, setting, floor, part)]
            low, high = turns.interval(found, rounds=1000)
            cells.append(f"{statistics.median(found):+.2f} ({low:+.2f} to {high:+.2f})")
        lines.append(f"| {setting} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10**6, help="steps to take (default: as many as --seconds allow)")
    parser.add_argument("--seconds", type=float, default=math.inf, help="begin no step after so long (default: no limit)")
    parser.add_argument("--setting", action="append", choices=SETTINGS, help="may be repeated (default: kernel and default)")
    parser.add_argument("--over", choices=SETTINGS, default="kernel", help="the setting to compare with (default: kernel)")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel; start with torchrun, and say how many --steps")
    options = parser.parse_args()
    if options.seconds == math.inf and options.steps == 10**6:
        parser.error("say how long: --seconds or --steps")
    if options.ddp and options.seconds < math.inf:
        parser.error("with --ddp say how many --steps: after --seconds some ranks would stop and others wait for them")
    settings = turns.chosen(options, ["default"])
    steps = measure(options, settings)
    if int(os.environ.get("RANK", "0")) == 0:
        print("\n" + table(steps, settings, options.over))


if __name__ == "__main__":
    main()
