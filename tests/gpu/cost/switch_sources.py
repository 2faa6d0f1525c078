#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the sources beside CUPTI cost, measured inside one recorded process.

Processes of the same program differ by several per cent in step time, more than the costs in question. So here one process is
recorded by the library (start it with LD_PRELOAD), and this program takes sources out of the library's set of them
(injector/base/sources.h) and puts them back between blocks of steps, in turns. The set is no exported name: it is found in the symbol
table of the file, which must not be stripped.

    LD_PRELOAD=libtraceinject.so python3 switch_sources.py --preset launch-bound --block 20
"""

import argparse
import ctypes
import pathlib
import re
import struct
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import turns  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "end_to_end"))
import watched  # noqa: E402

SYNC, GEMM, DEVICES, SLOW, HOST, PROGRAM, STACKS, COUNTERS = 1, 2, 4, 8, 16, 32, 64, 128  # enum Source
PREVIOUS = SYNC | PROGRAM  # what was captured before the others came
SETTINGS = {
    "none": 0,
    "previous": PREVIOUS,
    "previous again": PREVIOUS,  # shows what a difference of nothing looks like
    "previous+gemm": PREVIOUS | GEMM,
    "previous+devices": PREVIOUS | DEVICES,
    "previous+devices slowly": PREVIOUS | SLOW,
    "previous+host": PREVIOUS | HOST,
    "previous+attention": PREVIOUS,
    "without stacks": PREVIOUS | GEMM | DEVICES | SLOW | HOST,
    "without stacks again": PREVIOUS | GEMM | DEVICES | SLOW | HOST,
    "without counters": PREVIOUS | GEMM | DEVICES | SLOW | HOST | STACKS,
    "without counters again": PREVIOUS | GEMM | DEVICES | SLOW | HOST | STACKS,
    "all": PREVIOUS | GEMM | DEVICES | SLOW | HOST | STACKS | COUNTERS,
}
WITH_ATTENTION = ("previous+attention", "without stacks", "without stacks again", "without counters", "without counters again", "all")
SET = b"_ZN11traceinject9g_sourcesE"


def offset_of(library, name):
    """Address of a symbol in an ELF file for 64-bit little-endian machines, relative to where it is loaded."""
    sections_at, entry_size, count = struct.unpack_from("<Q", library, 40)[0], *struct.unpack_from("<HH", library, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", library, sections_at + i * entry_size) for i in range(count)]
    for kind, at, size, link in ((section[1], section[4], section[5], section[6]) for section in sections):
        if kind != 2:  # SHT_SYMTAB
            continue
        names = sections[link][4]
        for symbol in range(at, at + size, 24):
            text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", library, symbol)
            if library[names + text:names + text + len(name) + 1] == name + b"\0":
                return value
    raise SystemExit(f"switch_sources.py: {name.decode()} is not in the library's symbol table")


class Switch:
    """Changes the set in memory, and PyTorch's attention with and without its watch."""

    def __init__(self):
        mapped = re.search(r"^([0-9a-f]+)-\S+ \S+ 00000000 \S+ \S+\s+(\S*/libtraceinject\.so)$", pathlib.Path("/proc/self/maps").read_text(),
                           re.MULTILINE)
        if not mapped:
            sys.exit("switch_sources.py: start it with LD_PRELOAD=libtraceinject.so: nothing is recorded")
        place = int(mapped.group(1), 16) + offset_of(pathlib.Path(mapped.group(2)).read_bytes(), SET)
        self.set = ctypes.c_uint.from_address(place)
        self.all = self.set.value
        if self.all | COUNTERS != SETTINGS["all"]:  # counters are off until TRACEINJECT_COUNTERS asks for them
            sys.exit(f"switch_sources.py: the sources in use are {self.all}, expected all: {SETTINGS['all']}")
        import torch
        self.watches = watched.Watches(torch.nn.functional.scaled_dot_product_attention)
        self.attention = True

    def to(self, setting):
        self.use(SETTINGS[setting] & self.all, setting in WITH_ATTENTION)

    def use(self, sources, attention):
        self.set.value = sources
        if attention != self.attention:
            (self.watches.put_back if attention else self.watches.take_out)()
        self.attention = attention


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    turns.add_options(parser, SETTINGS, "previous")
    options = parser.parse_args()
    step_ms = turns.measure(options, turns.chosen(options, SETTINGS), lambda: Switch().to)
    print("\n" + turns.table(options, step_ms))


if __name__ == "__main__":
    main()
