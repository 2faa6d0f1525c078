#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the comparison is to be believed: how often it calls a difference between boards of the same programs, and how often it
finds programs that a wrapper makes slower by a share.

    pairs.py build/release/bin --pairs 20 --slower 0.1 --size tiny

The boards of a pair are measured turn about on one processor; with --jobs N so many pairs at a time, each on a core of its own. A busy
sibling, which in a virtual machine can be somebody else's, slows a program and its calibration loop by different shares: measured one after
the other, an export took 5.3 scans on one board and 4.4 on the next.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
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


def measured(folders, options, processor, stem):
    """A board of each."""
    chosen = [word for figure in options.figure for word in ("--figure", figure)]
    paths = [stem.with_suffix(f".{number}.json") for number in range(len(folders))]
    done = subprocess.run([sys.executable, "-B", HERE / "measure.py", *folders, "--size", options.size, *(f"--output={path}" for path in paths),
                           "--processor", str(processor), *chosen], capture_output=True, text=True)
    if not paths[-1].exists():
        sys.exit(f"pairs.py: {done.stderr}")
    return [json.loads(path.read_text()) for path in paths]


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
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plain").mkdir()
        (folder / "slower").mkdir()
        plain = wrapped(options.programs.resolve(), folder / "plain", 0.0)
        slower = wrapped(options.programs.resolve(), folder / "slower", options.slower)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            free = collections.deque(processors)

            def one_pair(number):
                processor = free.popleft()
                told = {(number, kind): compare.compare(*measured([plain, other], options, processor, folder / f"{number}-{kind}"))
                        for kind, other in (("equal", plain), ("slower", slower))}
                free.append(processor)
                print(f"pair {number + 1} of {options.pairs} is measured", file=sys.stderr, flush=True)
                return told

            try:
                compared = {task: changes for told in pool.map(one_pair, range(options.pairs)) for task, changes in told.items()}
            except KeyboardInterrupt:
                pool.shutdown(cancel_futures=True)  # those that are measured have ended: the terminal told their processes, too
                sys.exit("pairs.py: interrupted")
    print(f"{options.pairs} pairs, {options.size}")
    for figure in options.figure:
        key = f"{figure} ({options.size})"
        changes = {kind: [compared[number, kind][key] for number in range(options.pairs)] for kind in ("equal", "slower")}
        false = sum(compare.counts(change) for change in changes["equal"])
        found = sum(compare.counts(change) and change.share > 0 for change in changes["slower"])
        middle = sorted(change.share for change in changes["slower"])[options.pairs // 2]
        spread = max(abs(change.share) for change in changes["equal"])
        print(f"{figure:<32} differences between equals: {false:>2} (largest {100 * spread:.1f} %); {100 * options.slower:.0f} % slower found: {found:>2} "
              f"(in the middle {100 * middle:+.1f} %)", flush=True)


if __name__ == "__main__":
    main()
