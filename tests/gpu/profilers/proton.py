#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Triton's Proton in a recorded process: it counts what it counts without us, and we record everything before and after its sessions.

The program works in phases of equal steps; in the second and the fourth Proton records, the fourth being shorter than a flush interval.

    proton.py check --library libtraceinject.so --out OUT
    proton.py run NAME RESULT.json           (the program: own, shared)
"""

import collections
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
from paired_program import PairedProgram  # noqa: E402
from profiler import Recording  # noqa: E402

PROGRAMS = ("own", "shared")  # the libcupti in Triton's package, which Proton takes by default, or the one that PyTorch has loaded
PHASES = (("before", 100), ("long", 200), ("between", 200), ("short", 10), ("after", 200))
PROFILED = ("long", "short")
FLUSH_MS = "200"
UNTOLD_START = 0.05  # of a phase: a session begins a little after it, and before its first kernel


# ---- the program

def counts_of(node, counts):
    """How often Proton saw each kernel: of a tree as it writes it."""
    if isinstance(node, list):
        for one in node:
            counts_of(one, counts)
    elif isinstance(node, dict):
        count = node.get("metrics", {}).get("count", 0)
        if count:
            counts[node["frame"]["name"]] += int(count)
        counts_of(node.get("children", []), counts)
    return counts


def loaded(prefix):
    """Paths of the loaded libraries of this name."""
    paths = {line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    return sorted(path for path in paths if path.rpartition("/")[2].startswith(prefix))


def run(name, result):
    import torch
    import triton.profiler as proton
    torch.manual_seed(0)
    folder = tempfile.mkdtemp()
    matrices = [torch.randn(512, 512, device="cuda") for _ in range(8)]

    def step():
        for matrix in matrices:
            torch.relu_(matrix @ matrix * 1e-3)
        torch.cuda.synchronize()
        time.sleep(0.005)

    step()  # PyTorch has loaded its libcupti
    if name == "shared":
        os.symlink(loaded("libcupti.so")[0], f"{folder}/libcupti.so")
        os.environ["TRITON_CUPTI_LIB_PATH"] = folder
    phases, profiles = {}, {}
    for phase, steps in PHASES:
        begin = time.time_ns()
        if phase in PROFILED:
            proton.start(f"{folder}/{phase}")
        for _ in range(steps):
            step()
        if phase in PROFILED:
            proton.finalize()
            profiles[phase] = counts_of(json.loads(pathlib.Path(f"{folder}/{phase}.hatchet").read_text()), collections.Counter())
        phases[phase] = (begin, time.time_ns())
    pathlib.Path(result).write_text(json.dumps({"phases": phases, "profiles": profiles, "libraries": loaded("libcupti"),
                                                "sum": float(sum(matrix.sum() for matrix in matrices))}))


# ---- the checks

class Check(PairedProgram):
    def __init__(self, library, out):
        super().__init__(__file__, library, out)

    def program(self, name):
        judge = checks.Checks(self.out / "checks.jsonl", f"proton {name}")
        told = self.both(judge, name, {"TRACEINJECT_FLUSH_MS": FLUSH_MS})
        if told is None:
            return
        plain, traced = told
        judge.note("libraries", " ".join(traced["libraries"]))
        for phase in PROFILED:
            with_us, without = traced["profiles"][phase], plain["profiles"][phase]
            judge.add(f"its kernels, {phase} session", with_us == without and sum(without.values()) > 0,
                      f"{sum(with_us.values())} of {len(with_us)} names with us, {sum(without.values())} of {len(without)} without")
        self.check_recording(judge, plain, traced, Recording(self.out / f"{name}.db"))

    @staticmethod
    def check_recording(judge, plain, traced, recording):
        a_step = sum(plain["profiles"]["long"].values()) // dict(PHASES)["long"]
        gaps = [(recording.base + start, recording.base + start + dur if dur is not None else 2 ** 63, reason)
                for start, dur, reason in recording.rows("SELECT start, dur, reason FROM capture_gap ORDER BY start")]
        starts = sorted(start for kernels in recording.kernels().values() for start, _, _ in kernels)
        for phase, steps in PHASES:
            begin, end = traced["phases"][phase]
            count, expected = sum(begin <= start < end for start in starts), a_step * steps
            gap = sum(max(0, min(end, until) - max(begin, since)) for since, until, _ in gaps)
            detail = f"{count} of {expected} kernels recorded, {gap / 1e6:.0f} of {(end - begin) / 1e6:.0f} ms told as a gap"
            untold = 1 - gap / (end - begin)
            due = 0.8 * expected * untold if untold > UNTOLD_START else 0
            judge.add(f"phase {phase}", count == expected or (gap > 0 and due <= count < expected), detail)
            if phase not in PROFILED:
                judge.add(f"resumed, {phase}", count > 0, detail)
        judge.add("reasons", {reason for _, _, reason in gaps} <= {"proton"}, f"{len(gaps)} gaps: {sorted({gap[2] for gap in gaps})}")
        judge.add("errors of CUPTI", recording.count("cupti", "errors") == 0, str(recording.count("cupti", "errors")))
        judge.note("room was made", f"{sum(reason == 'proton' for _, _, reason in gaps)} times")
        judge.note("stood aside", f"{recording.count('other_client', 'stood_aside')} times")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "run":
        return run(sys.argv[2], sys.argv[3])
    return checks.check_programs(__doc__, PROGRAMS, Check)


if __name__ == "__main__":
    sys.exit(main())
