#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client of CUPTI that no wrapper sees, in a recorded process: it gets the kernels that it gets without us, and what we have not recorded
lies in gaps that we tell. It is the one of the tests on the fake GPU, which leaves CUPTI as it came or finalizes it.

The program waits for the GPU after each step, so that the work of a step lies between its times.

    unseen.py check --library libtraceinject.so --out OUT
    unseen.py run NAME RESULT.json CLIENT    (the program)
"""

import collections
import ctypes
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

WINDOWS = {"TRACEINJECT_WINDOW": "every:2s:1s"}
OFTEN = {"TRACEINJECT_FLUSH_MS": "50"}
STEP_S, STEPS = 0.02, 400
AT_EDGES = [(30, 60), (70, 100), (140, 160), (196, 215)]
# Of each program: settings of the library and of the client, the first and last steps of its sessions, whether it finalizes CUPTI.
PLANS = {
    "subscribed": (OFTEN, {}, [(60, 90), (150, 200)], False),
    "finalized": (OFTEN, {}, [(60, 90), (150, 200)], True),
    "flushing": (OFTEN, {"FAKE_PROFILER_FLUSHES": "1"}, [(60, 90), (150, 200)], True),
    "kernels": ({**OFTEN, "TRACEINJECT_KINDS": "kernel"}, {}, [(60, 90), (150, 200)], True),
    "early": ({"TRACEINJECT_FLUSH_MS": "150"}, {}, [(2, 4), (150, 200)], False),
    "late": ({"TRACEINJECT_FLUSH_MS": "900"}, {}, [(100, 102), (200, 201)], True),  # over before a flush could notice it
    # Windows from 1 to 2, 3 to 4, and 5 to 6 s: across the first beginning, an end, a beginning, and since just before an end.
    "windows": ({**OFTEN, **WINDOWS}, {}, AT_EDGES, True),
    "windows_subscribed": ({**OFTEN, **WINDOWS}, {}, AT_EDGES, False),
    "detached": ({**OFTEN, **WINDOWS, "TRACEINJECT_DETACH": "1"}, {}, AT_EDGES, True),
    "detached_subscribed": ({**OFTEN, **WINDOWS, "TRACEINJECT_DETACH": "1"}, {}, AT_EDGES, False),
}
NEVER = 1 << 63


# ---- the program

def run(name, result, client_path):
    import torch
    torch.manual_seed(0)
    matrices = [torch.randn(512, 512, device="cuda") for _ in range(8)]
    _, _, sessions, finalizes = PLANS[name]
    client, lines, times = ctypes.CDLL(client_path), f"{tempfile.mkdtemp()}/kernels", []

    def step():
        for matrix in matrices:
            torch.relu_(matrix @ matrix * 1e-3)
        torch.cuda.synchronize()

    step()  # what is done once
    for number in range(STEPS):
        if number in (first for first, _ in sessions):
            client.profiler_start()
        begin = time.time_ns()
        step()
        times.append((begin, time.time_ns()))
        if number in (last for _, last in sessions):
            client.profiler_stop(lines.encode(), finalizes)
        time.sleep(max(0, STEP_S - (time.time_ns() - begin) / 1e9))
    pathlib.Path(result).write_text(json.dumps({"times": times, "sessions": sessions_of(lines), "sum": float(sum(m.sum() for m in matrices))}))


def sessions_of(path):
    """By its sessions, how often the client saw each kernel."""
    sessions = []
    for line in map(json.loads, pathlib.Path(path).read_text().splitlines()):
        if line["kind"] == "session":
            sessions.append(collections.Counter())
        else:
            sessions[-1][line["name"]] += 1
    return sessions


# ---- the checks

class Check(PairedProgram):
    def __init__(self, library, out):
        super().__init__(__file__, library, out)

    def program(self, name):
        judge = checks.Checks(self.out / "checks.jsonl", f"unseen {name}")
        ours, theirs, _, _ = PLANS[name]
        told = self.both(judge, name, ours, settings=theirs, arguments=(os.environ["UNSEEN_CLIENT"],))
        if told is None:
            return
        plain, traced = told
        with_us, without = ([sum(session.values()) for session in one["sessions"]] for one in (traced, plain))
        judge.add("its kernels", traced["sessions"] == plain["sessions"] and min(without) > 0, f"{with_us} with us, {without} without")
        first, last = PLANS[name][2][0]
        self.check_recording(judge, name, traced["times"], without[0] // (last - first + 1), Recording(self.out / f"{name}.db"))

    @staticmethod
    def check_recording(judge, name, times, a_step, recording):
        gaps = [(recording.base + start, recording.base + start + dur if dur is not None else NEVER, reason) for start, dur, reason in
                recording.rows("SELECT start, dur, reason FROM capture_gap ORDER BY start")]
        starts = sorted(start for kernels in recording.kernels().values() for start, _, _ in kernels)
        counts = [sum(begin <= start <= end for start in starts) for begin, end in times]
        whole = [all(end < since or begin > until for since, until, _ in gaps) for begin, end in times]
        outside = collections.Counter(count for count, is_whole in zip(counts, whole) if is_whole)
        judge.add("steps outside of gaps are whole", set(outside) == {a_step}, f"kernels in each: {dict(outside)}, {a_step} due")
        between = sum(times[0][0] <= start <= times[-1][1] for start in starts) - sum(counts)
        judge.add("no kernel is made up", max(counts) <= a_step and between == 0, f"{max(counts)} in a step at most, {between} between steps")
        told = collections.Counter(reason for _, _, reason in gaps)
        judge.add("reasons", set(told) <= {"other_client", "window"} and told["other_client"] > 0, str(dict(told)))
        last = PLANS[name][2][-1][1]
        judge.add(f"resumed after step {last}", any(whole[last + 1:]), f"{sum(whole[last + 1:])} steps of {len(whole) - last - 1} are whole")
        judge.add("errors of CUPTI", recording.count("cupti", "errors") == 0, str(recording.count("cupti", "errors")))
        if not {"TRACEINJECT_KINDS", "TRACEINJECT_DETACH"} & set(PLANS[name][0]):  # else not all launches are recorded
            since = max([until for _, until, _ in gaps if until != NEVER], default=0) - recording.base
            alone = recording.rows(f"SELECT count(*) FROM kernel WHERE start > {since} AND correlation NOT IN (SELECT correlation FROM api)")[0][0]
            judge.add("each kernel after the last gap has its launch", alone == 0, f"{alone} have none")
        judge.note("stood aside", f"{recording.count('other_client', 'stood_aside')} times; {sum(counts)} of {a_step * len(times)} kernels recorded, "
                   f"{sum(not is_whole for is_whole in whole)} of {len(times)} steps are in gaps")


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "run":
        return run(*sys.argv[2:])
    return checks.check_programs(__doc__, tuple(PLANS), Check)


if __name__ == "__main__":
    sys.exit(main())
