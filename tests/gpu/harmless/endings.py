#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two ranks under torchrun (one, where there is one GPU), of which one ends at a random moment and in a random way.

Each rank notes when each of its steps was done. All steps launch the same kernels, so that a recording has the same number of them
between any two notes, up to two seconds before the rank's end.

    endings.py check --library libtraceinject.so --out OUT
    torchrun endings.py run FOLDER HOW SECONDS VICTIM           (the program: train until rank VICTIM ends HOW)
"""

import argparse
import bisect
import collections
import os
import pathlib
import random
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
WORKLOADS = HERE.parents[2] / "samples" / "workloads"
# How the program ends: what it does, and where; `main`: between two steps, `any`: at any moment, in a thread of its own.
ENDINGS = {
    "SIGKILL": ("any", lambda: os.kill(os.getpid(), signal.SIGKILL)),
    "SIGTERM": ("any", lambda: os.kill(os.getpid(), signal.SIGTERM)),
    "_exit": ("any", lambda: os._exit(7)),
    "exception": ("main", None),
}
MOST_LOST_NS = 2_000_000_000
WARM_UP_STEPS = 3  # launch more kernels than the others
EARLIEST_S, LATEST_S = 0.0, 6.0


# ---- the program

def run(folder, how, seconds, victim):
    sys.path.insert(0, str(WORKLOADS))
    import transformer
    sys.argv = ["transformer.py", "--preset", "compute", "--layers", "4", "--steps", "100000", "--workers", "0", "--ddp"]
    trainer = transformer.Trainer(transformer.parse_options())
    mine, (where, end) = trainer.rank == int(victim), ENDINGS[how]
    due = time.monotonic() + float(seconds)
    if mine and where == "any":
        timer = threading.Timer(float(seconds), end)
        timer.daemon = True
        timer.start()
    with open(f"{folder}/rank{trainer.rank}.notes", "w", buffering=1) as notes:
        while True:
            trainer.step()
            trainer.synchronise()
            notes.write(f"{time.time_ns()}\n")
            if mine and where == "main" and time.monotonic() > due:
                raise RuntimeError("planned")


# ---- the checks

def start(folder, how, seconds, victim, ranks, library):
    folder.mkdir(parents=True)
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if library:
        environment.update(LD_PRELOAD=str(library), TRACEINJECT_OUTPUT=f"{folder}/%r.db")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), __file__, "run", str(folder), how,
               str(seconds), str(victim)]
    return subprocess.Popen(command, env=environment, stdout=(folder / "log").open("w"), stderr=subprocess.STDOUT, start_new_session=True)


def codes(folder, process):
    """What torchrun ends with, and what it says of the rank that ended first."""
    try:
        code = process.wait(timeout=90)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return "hangs", ""
    told = re.findall(r"exitcode\s*:\s*(-?\d+)", (folder / "log").read_text())
    return code, told[0] if told else ""


class Job:
    def __init__(self, out, number, ranks, choose):
        self.ranks = ranks
        self.how, self.victim = choose.choice(list(ENDINGS)), choose.randrange(ranks)
        self.seconds = choose.uniform(EARLIEST_S, LATEST_S)
        self.folder = out / f"{number}"
        self.name = f"{number} {self.how} of rank {self.victim} after {self.seconds:.1f} s"

    def check(self, judge, plain):
        found = codes(self.folder, self.process)
        judge.add(f"{self.name}: exit codes", found == plain[self.how], f"{found}, {plain[self.how]} without us")
        rows = 0
        for rank in range(self.ranks):
            rows += self.check_file(judge, rank)
        return rows

    def check_file(self, judge, rank):
        name = f"{self.name}: file of rank {rank}"
        notes = [int(line) for line in (self.folder / f"rank{rank}.notes").read_text().split()]
        # The other rank is ended by torchrun some time later, and waits until then.
        due = [ns for ns in notes if ns <= notes[-1] - MOST_LOST_NS][WARM_UP_STEPS:]
        path = self.folder / f"{rank}.db"
        if not path.exists():
            judge.add(name, not due, f"none, {len(notes)} steps")
            return 0
        with sqlite3.connect(path) as database:
            sound = database.execute("PRAGMA integrity_check").fetchone()[0]
            found = dict(database.execute("SELECT key, value FROM meta WHERE key = 'base_ns'"))
            ends = sorted(end for end, in database.execute("SELECT start + dur FROM kernel"))
            gaps = {reason for reason, in database.execute("SELECT reason FROM capture_gap")}
        base = found.get("base_ns", 0)
        a_step = collections.Counter()
        for end in ends:
            a_step[bisect.bisect_left(due, base + end)] += 1
        counts = {a_step[i] for i in range(1, len(due))}
        judge.add(f"{name}: nobody else took records", "other_client" not in gaps, f"gaps {sorted(gaps)}")
        judge.add(name, sound == "ok" and len(counts) <= 1 and counts != {0},
                  f"{sound}, {len(ends)} kernels, {len(notes)} steps, of which {len(due)} ended early enough to be due; kernels in each: {sorted(counts)}")
        return len(ends)


def check(options):
    outcomes = options.out / "checks.jsonl"
    outcomes.write_text("")
    judge = checks.Checks(outcomes, "ending")
    begun = {how: start(options.out / f"plain.{how}", how, 1.0, 0, options.ranks, None) for how in ENDINGS}
    plain = {how: codes(options.out / f"plain.{how}", process) for how, process in begun.items()}
    judge.note("exit codes without us", str(plain))
    choose, rows = random.Random(options.seed), 0
    for first in range(0, options.times, options.at_once):
        jobs = [Job(options.out, number, options.ranks, choose) for number in range(first, min(first + options.at_once, options.times))]
        for job in jobs:
            job.process = start(job.folder, job.how, job.seconds, job.victim, options.ranks, options.library)
        rows += sum(job.check(judge, plain) for job in jobs)
    judge.add("something was recorded", rows > 0, f"{rows} kernels in all")
    return checks.summary(outcomes, options.out / "results.json")


def main():
    if sys.argv[1:2] == ["run"]:
        return run(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check"])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--ranks", type=int, default=2, help="ranks of a job, a GPU each (default: 2)")
    parser.add_argument("--times", type=int, default=30, help="how often a job ends (default: 30)")
    parser.add_argument("--at-once", type=int, default=3, help="jobs at a time (default: 3)")
    parser.add_argument("--seed", type=int, default=1)
    return check(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
