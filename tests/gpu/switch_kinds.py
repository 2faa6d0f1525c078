#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each part of a recording costs over kernel records alone, measured inside one recorded process.

Processes of the same program differ by several per cent in step time, more than the costs in question. So here one process is
recorded by the library (start it with LD_PRELOAD) and this program turns CUPTI's activity kinds off and on between blocks of
steps, in turns. Printed are the median step of each setting and, against `kernel`, the median of the differences within a
round, with 95 % intervals (percentile bootstrap over rounds). `off` is not an untraced program: something of CUPTI stays
behind when all kinds are disabled; compare with untraced processes by overhead.sh.

    LD_PRELOAD=libtraceinject.so python3 switch_kinds.py --preset launch-bound
"""

import argparse
import ctypes
import pathlib
import random
import re
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "samples" / "workloads"))

# CUpti_ActivityKind
KINDS = {"memcpy": 1, "memset": 2, "kernel": 10, "overhead": 17, "memcpy2": 22, "cuda_event": 36, "synchronization": 38}
SETTINGS = {
    "off": set(),
    "kernel": {"kernel"},
    "kernel,memcpy,memset": {"kernel", "memcpy", "memset"},
    "kernel,runtime calls": {"kernel", "runtime"},
    "kernel,driver calls": {"kernel", "driver"},
    "default": {"kernel", "memcpy", "memcpy2", "memset", "runtime", "driver"},
    "default+overhead": {"kernel", "memcpy", "memcpy2", "memset", "runtime", "driver", "overhead"},
    "default+synchronization": {"kernel", "memcpy", "memcpy2", "memset", "runtime", "driver", "synchronization"},
    "default+cuda_event": {"kernel", "memcpy", "memcpy2", "memset", "runtime", "driver", "cuda_event"},
}


def allowed_calls():
    """Callback ids of the calls that the library records, by domain."""
    text = (ROOT / "injector" / "cupti" / "allow_list.h").read_text()
    return {domain: [int(cbid) for cbid in re.findall(rf"CudaDomain::k{domain.title()}, (\d+),", text)]
            for domain in ("runtime", "driver")}


class Switch:
    def __init__(self):
        maps = pathlib.Path("/proc/self/maps").read_text()
        if "libtraceinject.so" not in maps:
            sys.exit("switch_kinds.py: start it with LD_PRELOAD=libtraceinject.so: nothing is recorded")
        self.cupti = ctypes.CDLL(re.search(r"\S*/libcupti\.so\S*", maps).group())
        self.calls = allowed_calls()
        self.on = set(SETTINGS["default"])

    def to(self, setting):
        wanted = SETTINGS[setting]
        for kind in self.on ^ wanted:
            if kind in ("runtime", "driver"):
                enable = getattr(self.cupti, f"cuptiActivityEnable{kind.title()}Api")
                for cbid in self.calls[kind]:
                    enable(ctypes.c_uint32(cbid), ctypes.c_uint8(kind in wanted))
            elif kind in wanted:
                self.cupti.cuptiActivityEnable(KINDS[kind])
            else:
                self.cupti.cuptiActivityDisable(KINDS[kind])
        self.on = set(wanted)


def interval(values, of=statistics.median, rounds=4000):
    draw = random.Random(1)
    drawn = sorted(of(draw.choices(values, k=len(values))) for _ in range(rounds))
    return drawn[int(0.025 * rounds)], drawn[int(0.975 * rounds)]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=["compute", "launch-bound"], default="launch-bound")
    parser.add_argument("--rounds", type=int, default=25, help="blocks of each setting (default: 25)")
    parser.add_argument("--block", type=int, default=10, help="steps timed together (default: 10)")
    parser.add_argument("--settle", type=int, default=2, help="steps after a switch that are not timed (default: 2)")
    parser.add_argument("--setting", action="append", choices=SETTINGS, help="may be repeated (default: all)")
    return parser.parse_args()


def main():
    options = parse_options()
    settings = options.setting or list(SETTINGS)
    import transformer

    steps = options.rounds * len(settings) * (options.block + options.settle) + 20
    sys.argv = ["transformer.py", "--preset", options.preset, "--steps", str(steps), "--workers", "0"]
    trainer = transformer.Trainer(transformer.parse_options())
    for _ in range(15):
        trainer.step()
    switch = Switch()
    step_ms = {setting: [] for setting in settings}
    for turn in range(options.rounds):
        for setting in settings[turn % len(settings):] + settings[:turn % len(settings)]:
            trainer.synchronise()
            switch.to(setting)
            for _ in range(options.settle):
                trainer.step()
            trainer.synchronise()
            started = time.perf_counter()
            for _ in range(options.block):
                trainer.step()
            trainer.synchronise()
            step_ms[setting].append((time.perf_counter() - started) * 1e3 / options.block)
    switch.to("default")

    base = statistics.median(step_ms["kernel"])
    print(f"{options.preset}, one process, {options.rounds} rounds of {options.block} steps each:\n")
    print("| setting | step, ms | over kernel, % of the step (95 %) |\n|---|---|---|")
    for setting in settings:
        over = [100 * (mine - floor) / base for mine, floor in zip(step_ms[setting], step_ms["kernel"])]
        low, high = interval(over)
        print(f"| {setting} | {statistics.median(step_ms[setting]):.2f} | {statistics.median(over):+.2f} ({low:+.2f} to {high:+.2f}) |")


if __name__ == "__main__":
    main()
