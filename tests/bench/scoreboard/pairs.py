#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the comparison is to be believed: how often it calls a difference between boards of the same programs, and how often it
finds programs that a wrapper makes slower by a share.

    pairs.py build/release/bin --pairs 20 --slower 0.1 --size tiny

The boards of a pair are measured turn about on one processor; with --jobs N so many pairs at a time, each on a core of its own. A busy
sibling, which in a virtual machine can be somebody else's, slows a program and its calibration loop by different shares: measured one after
the other, an export took 5.3 scans on one board and 4.4 on the next. Interrupted, it tells of the pairs that were measured.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import compare
import figures

HERE = pathlib.Path(__file__).resolve().parent
# Runs the program, and then takes a share of the processor time so far once more: its own start counts, which small inputs would notice.
WRAPPER = """#!{python} -SE
import os, sys, time
try:
    child = os.posix_spawn({program!r}, [{program!r}, *sys.argv[1:]], os.environ)
except OSError:
    sys.exit(127)  # 1 is an answer of the program's
_, status, used = os.wait4(child, 0)
end = time.process_time() + {share} * (used.ru_utime + used.ru_stime + time.process_time())
while time.process_time() < end:
    pass
sys.exit(os.waitstatus_to_exitcode(status))
"""


def wrapped(programs, folder, share):
    """A folder of programs that take so much more. A share of 0 is wrapped alike: the wrapper has a start of its own."""
    for name in ("analyze", "traceview"):
        path = folder / name
        path.write_text(WRAPPER.format(python=sys.executable, program=str(programs / name), share=share))
        path.chmod(0o755)
    return folder


def one_of_each_core(processors):
    """The first of the processors that share a core."""
    first = {}
    for processor in sorted(processors):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list")
        first.setdefault(siblings.read_text() if siblings.exists() else processor, processor)
    return list(first.values())


class Measuring:
    """Of builds that are compared, with all that it takes in a folder. Processes end with it."""

    def __init__(self, options, folder, processors):
        self.options, self.folder = options, folder
        self.free = collections.deque(processors)
        self.running = set()
        shares = {"plain": 0.0, "slower": options.slower}
        for name in shares:
            (folder / name).mkdir()
        self.plain, self.slower = (wrapped(options.programs.resolve(), folder / name, share) for name, share in shares.items())

    def boards(self, folders, processor, stem):
        """One of each folder."""
        chosen = [word for figure in self.options.figure for word in ("--figure", figure)]
        paths = [stem.with_suffix(f".{number}.json") for number in range(len(folders))]
        process = subprocess.Popen([sys.executable, "-B", HERE / "measure.py", *folders, "--size", self.options.size, "--folder", self.folder,
                                    *(f"--output={path}" for path in paths), "--processor", str(processor), *chosen],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.running.add(process)
        _, said = process.communicate()
        self.running.discard(process)
        if not paths[-1].exists():
            sys.exit(f"pairs.py: {said}")
        return [json.loads(path.read_text()) for path in paths]

    def pair(self, number):
        """The changes between equals, and those of what is slower."""
        processor = self.free.popleft()
        changes = {kind: compare.compare(*self.boards([self.plain, other], processor, self.folder / f"{number}-{kind}"))
                   for kind, other in (("equal", self.plain), ("slower", self.slower))}
        self.free.append(processor)
        print(f"pair {number + 1} of {self.options.pairs} is measured", file=sys.stderr, flush=True)
        return changes

    def stop(self):
        for process in list(self.running):
            process.terminate()


def measure_pairs(options, processors):
    """As many as were asked for, or as were measured when it was interrupted."""
    pairs = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        measuring = Measuring(options, pathlib.Path(folder), processors)
        try:
            for changes in pool.map(measuring.pair, range(options.pairs)):
                pairs.append(changes)
        except KeyboardInterrupt:
            measuring.stop()
            pool.shutdown(cancel_futures=True)
    return pairs


def show(pairs, options):
    print(f"{len(pairs)} pairs, {options.size}")
    for figure in options.figure if pairs else []:
        changes = {kind: [pair[kind][f"{figure} ({options.size})"] for pair in pairs] for kind in ("equal", "slower")}
        false = sum(compare.counts(change) for change in changes["equal"])
        found = sum(compare.counts(change) and change.share > 0 for change in changes["slower"])
        middle = sorted(change.share for change in changes["slower"])[len(pairs) // 2]
        spread = max(abs(change.share) for change in changes["equal"])
        print(f"{figure:<32} differences between equals: {false:>2} (largest {100 * spread:.1f} %); "
              f"{100 * options.slower:.0f} % slower found: {found:>2} (in the middle {100 * middle:+.1f} %)")


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--slower", type=float, default=0.1)
    parser.add_argument("--size", choices=list(figures.SIZES), default="small")
    parser.add_argument("--figure", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if missing := figures.need_programs(options.programs):
        parser.error(missing)
    options.figure = options.figure or ["report", "report as JSON of a trace", "kernels as columns", "export for Perfetto", "viewer reads"]
    processors = one_of_each_core(os.sched_getaffinity(0))[-options.jobs:]
    if len(processors) < options.jobs:
        parser.error(f"--jobs {options.jobs}: this machine has {len(processors)} cores")
    signal.signal(signal.SIGTERM, interrupt)
    pairs = measure_pairs(options, processors)
    show(pairs, options)
    if len(pairs) < options.pairs:
        sys.exit("pairs.py: interrupted")


if __name__ == "__main__":
    main()
