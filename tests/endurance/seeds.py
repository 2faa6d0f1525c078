# SPDX-License-Identifier: Apache-2.0
"""Plays something for each of many seeds, several at once, and looks at what is left behind."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))


def arguments(description, count, at_once=4):
    """`at_once`: None: one after the other. --build is read here, before the harness is loaded, which looks for what is built."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=count, help=f"how many seeds ({count})")
    parser.add_argument("--seed", type=int, default=1, help="the first; each later one is one more")
    if at_once is not None:
        parser.add_argument("--at-once", type=int, default=at_once, help=f"how many are played at the same time ({at_once})")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="the CMake build folder")
    given = parser.parse_args()
    need_library(given.build)
    os.environ["TRACEINJECT_BUILD"] = str(given.build.resolve())
    catch_signals()
    return given


def need_library(build):
    if not (build / "lib" / "libtraceinject.so").exists():
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {build} has no library; build it, or name the build folder with --build")


def catch_signals():
    """SIGINT and SIGTERM end the script once all is put away. Shells ignore the first in the background, which programs inherit."""
    def interrupt(_number, _frame):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


def processes_of(folder):
    """Those that were started with that folder as their home."""
    home = f"HOME={folder}".encode()
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and home in (process / "environ").read_bytes().split(b"\0"):
                found.append(f"{process.name} {(process / 'comm').read_text().strip()}")
        except OSError:  # it ended just now, or belongs to somebody else
            pass
    return found


def left_of(folder):
    """Those that are there still after a moment: what dies with its parent is killed when that is gone, and takes its time on a busy machine."""
    end = time.monotonic() + 2
    while (left := processes_of(folder)) and time.monotonic() < end:
        time.sleep(0.01)
    return left


def shared_memory():
    """Names of POSIX and numbers of System V."""
    system_v = {line.split()[1] for line in pathlib.Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}
    return {path.name for path in pathlib.Path("/dev/shm").iterdir()} | system_v


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def _play(case, result):
    case.run(result)
    return result


class Report:
    def __init__(self, total):
        self.total, self.done, self.failed, self.skipped = total, 0, [], []
        self.kinds = collections.Counter()
        self.begin = time.monotonic()

    def add(self, seed, case, result):
        self.done += 1
        self.kinds[case.kind] += 1
        for _, text in [*result.failures, *result.errors]:
            self.failed.append(seed)
            print(f"seed {seed}, {case.kind}:\n{text}", file=sys.stderr)
        self.skipped += [reason for _, reason in result.skipped]
        if self.done % 20 == 0 or self.done == self.total:
            print(f"  {self.done} of {self.total}, {len(self.failed)} failed, {time.monotonic() - self.begin:.0f} s", file=sys.stderr)


def play(given, make):
    """`make(seed)` is a test case with a `kind` that is played, and that `stop()` ends early. Returns the exit code."""
    import unittest
    before = shared_memory()
    report, running = Report(given.count), {}
    seeds = iter(range(given.seed, given.seed + given.count))
    with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
        try:
            while True:
                while len(running) < given.at_once and (seed := next(seeds, None)) is not None:
                    case = make(seed)
                    running[pool.submit(_play, case, unittest.TestResult())] = seed, case
                if not running:
                    break
                done, _ = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    seed, case = running.pop(future)
                    report.add(seed, case, future.result())
        except KeyboardInterrupt:
            for _, case in running.values():
                case.stop()
            return 130
    left = sorted(name for name in shared_memory() - before if "traceinject" in name or "run.db" in name)
    print(f"{report.done} played: " + ", ".join(f"{count} {kind}" for kind, count in sorted(report.kinds.items())))
    for reason, count in collections.Counter(report.skipped).items():
        print(f"left out {count} times: {reason}")
    if left:
        print(f"shared memory is left: {', '.join(left)}")
    good = not report.failed and not left
    print("PASS" if good else f"FAIL: seeds {report.failed[:20]}")
    return 0 if good else 1
