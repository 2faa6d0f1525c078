#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What each part of a recording costs over CUPTI's records of kernels alone, measured inside one recorded process.

Processes of the same program differ by several per cent in step time, more than the costs in question. So here one process is
recorded by the library (start it with LD_PRELOAD) and this program turns CUPTI's activity kinds, and all that the library records
without CUPTI (`sources`, switch_sources.py), off and on between blocks of steps, in turns. Printed are the median step of each
setting and, against `kernel`, the medians of the differences within a round, with 95 % intervals (percentile bootstrap over
rounds). `off` is not an untraced program: something of CUPTI stays behind when all kinds are disabled; compare with untraced
processes by overhead.sh.

    LD_PRELOAD=libtraceinject.so TRACEINJECT_MEMSETS=all python3 switch_kinds.py --preset launch-bound
"""

import argparse
import ctypes
import os
import pathlib
import re
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import switch_sources  # noqa: E402
import turns  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]

# CUpti_ActivityKind
KINDS = {"memcpy": 1, "memset": 2, "kernel": 10, "overhead": 17, "memcpy2": 22, "cuda_event": 36, "synchronization": 38, "stream": 37, "memory": 49}
DEFAULT = {"kernel", "memcpy", "memcpy2", "runtime", "driver", "sources"}  # where memsets are many and short
SETTINGS = {
    "off": set(),
    "kernel": {"kernel"},
    "kernel,memcpy": {"kernel", "memcpy"},
    "kernel,memset": {"kernel", "memset"},
    "kernel,memcpy,memset": {"kernel", "memcpy", "memset"},
    "kernel,sources": {"kernel", "sources"},
    "kernel,runtime calls": {"kernel", "runtime"},
    "kernel,driver calls": {"kernel", "driver"},
    "default": DEFAULT,
    "default+memset": DEFAULT | {"memset"},
    "default+overhead": DEFAULT | {"overhead"},
    "default+synchronization": DEFAULT | {"synchronization"},
    "default+cuda_event": DEFAULT | {"cuda_event"},
    "default+memory": DEFAULT | {"memory"},
    "default+memory+stream": DEFAULT | {"memory", "stream"},
}


def allowed_calls():
    """Callback ids of the calls that the library records, by domain."""
    text = (ROOT / "injector" / "cupti" / "allow_list.h").read_text()
    return {domain: [int(cbid) for cbid in re.findall(rf"CudaDomain::k{domain.title()}, (\d+),", text)]
            for domain in ("runtime", "driver")}


def load_cupti():
    """The library that this process is recorded with."""
    program = pathlib.Path(sys.modules["__main__"].__file__).name
    maps = pathlib.Path("/proc/self/maps").read_text()
    if "libtraceinject.so" not in maps:
        sys.exit(f"{program}: start it with LD_PRELOAD=libtraceinject.so: nothing is recorded")
    if os.environ.get("TRACEINJECT_MEMSETS") != "all":
        sys.exit(f"{program}: start it with TRACEINJECT_MEMSETS=all: else the library turns kinds off, too")
    return ctypes.CDLL(re.search(r"\S*/libcupti\.so\S*", maps).group())


class Switch:
    def __init__(self):
        self.cupti = load_cupti()
        self.calls = allowed_calls()
        self.sources = switch_sources.Switch()
        self.on = SETTINGS["default+memset"]

    def to(self, setting):
        wanted = SETTINGS[setting]
        # All off first: copies and memsets go off together, and the one that stays on records nothing (cupti_gpu_time.cc).
        for kind in self.on:
            self.turn(kind, False)
        for kind in wanted:
            self.turn(kind, True)
        self.on = wanted

    def turn(self, kind, on):
        if kind == "sources":
            self.sources.to("all" if on else "none")
        elif kind in ("runtime", "driver"):
            enable = getattr(self.cupti, f"cuptiActivityEnable{kind.title()}Api")
            for cbid in self.calls[kind]:
                enable(ctypes.c_uint32(cbid), ctypes.c_uint8(on))
        elif on:
            self.cupti.cuptiActivityEnable(KINDS[kind])
        else:
            self.cupti.cuptiActivityDisable(KINDS[kind])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    turns.add_options(parser, SETTINGS, "kernel")
    options = parser.parse_args()
    switches = []

    def make_switch():
        switches.append(Switch())
        return switches[0].to

    step_ms = turns.measure(options, turns.chosen(options, SETTINGS), make_switch)
    switches[0].to("default+memset")
    print("\n" + turns.table(options, step_ms))


if __name__ == "__main__":
    main()
