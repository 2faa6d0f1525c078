#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that stalls are noticed on a GPU host, with the real PyTorch (see stalls.sh).

  stalls.py check --library FILE --analyze FILE --out OUT    runs the programs below and compares
  stalls.py program CASE FILE                                one of them; writes to FILE how many products it made, once they are done

A kernel that spins (torch.cuda._sleep) takes the part of one that never ends.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
STALL_S, NOTICED_WITHIN_S, LIMIT_S = 4, 60, 120
FOREVER_CYCLES = 1 << 45  # hours
LONG_CYCLES = 24_000_000_000  # about 12 s
PRODUCTS = 500
# host_span.detail: what the program waits for; None: it is in a launch, of a kernel that is not loaded yet. That waits for the GPU, too,
# with a lock of CUDA held, so that CUPTI may not answer.
HANGS = {"synchronize": 5, "item": 4, "loading": None}
FLUSHED_S = 2.5  # until then what ran is in the file
QUIET = ("idle", "busy")
PORT = 29577


def program(case, path):
    import torch
    matrix = torch.randn(2048, 2048, device="cuda")
    for _ in range(PRODUCTS):
        product = matrix @ matrix
    product.sum().item()  # so that the kernels of this are loaded
    torch.cuda.synchronize()
    pathlib.Path(path).write_text(str(PRODUCTS))
    if case == "idle":
        time.sleep(5 * STALL_S)
    elif case == "busy":  # the host is always ahead, so that there is always an operation without an end
        end = time.monotonic() + 5 * STALL_S
        large = torch.randn(16384, 16384, device="cuda")
        while time.monotonic() < end:
            events = []
            for _ in range(20):
                large @ large
                events.append(torch.cuda.Event())
                events[-1].record()
            events[0].synchronize()
        torch.cuda.synchronize()  # what has no end when the process ends is lost
    else:
        torch.cuda.nvtx.range_push("the last phase")
        time.sleep(FLUSHED_S)
        torch.cuda._sleep(LONG_CYCLES if case == "long" else FOREVER_CYCLES)
        if case == "loading":
            product.cumsum(0)
        if case == "item":
            product.sum().item()
        torch.cuda.synchronize()
        for _ in range(PRODUCTS):
            matrix @ matrix
        torch.cuda.synchronize()
        time.sleep(2)


def rank_program(rank):
    import torch
    import torch.distributed as dist
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    tensor = torch.ones(1 << 20, device="cuda")
    for _ in range(10 + (rank == 0)):  # rank 1 does not come to the last
        dist.all_reduce(tensor)
    if rank == 0:
        torch.cuda.synchronize()
    time.sleep(LIMIT_S)


class Runs:
    def __init__(self, library, analyze, out):
        self.library, self.analyze, self.out = library, analyze, out

    def start(self, name, *arguments, rank=None):
        recording = self.out / f"{name}.db"
        environment = os.environ | {"LD_PRELOAD": str(self.library), "TRACEINJECT_OUTPUT": str(recording), "TRACEINJECT_STALL": f"{STALL_S}s",
                                    "TRACEINJECT_LOG": str(self.out / f"{name}.log")}
        if rank is not None:
            environment |= {"RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(PORT)}
        return subprocess.Popen([sys.executable, str(HERE / "stalls.py"), *map(str, arguments)], env=environment)

    def rows(self, path, sql):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def stalls(self, path):
        try:
            return self.rows(path, "SELECT start, dur FROM capture_gap WHERE reason = 'stalled' ORDER BY start")
        except sqlite3.OperationalError:  # no file or no tables yet
            return []

    def wait_for_stall(self, path, process):
        deadline = time.monotonic() + NOTICED_WITHIN_S
        while time.monotonic() < deadline and process.poll() is None:
            if self.stalls(path):
                return True
            time.sleep(0.2)
        return False

    def keep_threads(self, name, pid):
        """For finding out why: what each thread of the process waits in, as far as the kernel tells."""
        lines = []
        for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir()):
            told = []
            for file in ("comm", "wchan", "syscall"):
                try:
                    told.append((task / file).read_text().strip())
                except OSError as error:
                    told.append(error.strerror)
            lines.append(" | ".join([task.name, *told]))
        (self.out / f"{name}.threads").write_text("\n".join(lines) + "\n")

    def report(self, name):
        done = subprocess.run([self.analyze, self.out / f"{name}.db"], capture_output=True, text=True, timeout=LIMIT_S)
        (self.out / f"{name}.txt").write_text(done.stdout + done.stderr)
        full = subprocess.run([self.analyze, self.out / f"{name}.db", "--format", "json"], capture_output=True, text=True, timeout=LIMIT_S)
        return json.loads(full.stdout)


def check_hang(checks, runs, case):
    path = runs.out / f"{case}.db"
    made = runs.out / f"{case}.made"
    process = runs.start(case, "program", case, made)
    noticed = runs.wait_for_stall(path, process)
    if process.poll() is None:
        runs.keep_threads(case, process.pid)
    process.kill()
    process.wait()
    checks.add(f"{case}: noticed", noticed, f"{runs.stalls(path)}")
    if not noticed:
        return
    ((start, dur),) = runs.stalls(path)
    (kernels, last_end), = runs.rows(path, "SELECT count(*), max(start + dur) FROM kernel")
    checks.add(f"{case}: lasts to the end", dur is None, f"dur {dur}")
    checks.add(f"{case}: kernels before it are in the file", kernels >= int(made.read_text()), f"{kernels} kernels")
    checks.add(f"{case}: begins after the last completion", start >= last_end, f"{(start - last_end) / 1e6:.3f} ms after it")
    waits = [detail for (detail,) in runs.rows(path, "SELECT detail FROM host_span WHERE kind = 3")]
    if HANGS[case] is None:
        checks.note(f"{case}: waits", f"host_span.detail {waits}")
    else:
        checks.add(f"{case}: the wait is told", HANGS[case] in waits, f"host_span.detail {waits}")
    (stall,) = runs.report(case)["stalls"]
    answered = not stall.get("unanswered", False)
    checks.add(f"{case}: CUPTI answers, or is said not to", answered or HANGS[case] is None, "it does" if answered else "it does not")
    checks.add(f"{case}: launches are outstanding", int(stall.get("outstanding_launches", 0)) >= (1 if answered else 0),
               f"{stall.get('outstanding_launches')}, the first {stall.get('first_launch')}")
    checks.add(f"{case}: the open range is told", "the last phase" in [one["name"] for one in stall["ranges"]], f"{stall['ranges']}")
    dropped = runs.rows(path, "SELECT value FROM health WHERE source = 'kernel' AND counter = 'dropped'")
    checks.note(f"{case}: records without an end", f"{dropped}")


def check_long(checks, runs):
    path = runs.out / "long.db"
    code = runs.start("long", "program", "long", runs.out / "long.made").wait(timeout=LIMIT_S)
    checks.add("long: ends as usual", code == 0, f"exit code {code}")
    stalls = runs.stalls(path)
    checks.add("long: told, with its end", len(stalls) == 1 and stalls[0][1] is not None, f"{stalls}")
    (kernels, longest), = runs.rows(path, "SELECT count(*), max(dur) FROM kernel")
    checks.add("long: what came after it is in the file", kernels >= 2 * PRODUCTS, f"{kernels} kernels")
    checks.note("long: whether its own record came", f"the longest kernel took {longest / 1e9:.3f} s")


def check_quiet(checks, runs, case):
    path = runs.out / f"{case}.db"
    code = runs.start(case, "program", case, runs.out / f"{case}.made").wait(timeout=LIMIT_S)
    checks.add(f"{case}: ends as usual", code == 0, f"exit code {code}")
    checks.add(f"{case}: no stall", runs.stalls(path) == [], f"{runs.stalls(path)}")
    lost = runs.rows(path, "SELECT source, value FROM health WHERE counter = 'dropped' AND value > 0")
    checks.add(f"{case}: nothing lost", lost == [], f"{lost}")


def check_ranks(checks, runs):
    import torch
    if torch.cuda.device_count() < 2:
        return checks.skip("ranks", "two GPUs are needed")
    processes = [runs.start("ranks", "rank", rank, rank=rank) for rank in range(2)]
    noticed = runs.wait_for_stall(runs.out / "ranks.rank00000.db", processes[0])
    for process in processes:
        process.kill()
        process.wait()
    checks.add("ranks: noticed", noticed, "")
    if not noticed:
        return None
    report = runs.report("ranks")
    hung = report["hung_operations"]
    checks.add("ranks: the AllReduce is told", [one["function"] for one in hung] == ["AllReduce"], f"{hung}")
    checks.add("ranks: the rank that did not come", [one["behind"] for one in hung] == [[1]], f"{[one.get('behind') for one in hung]}")
    return None


def check(library, analyze, out):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    for old in (log, *out.glob("*.db*")):
        old.unlink(missing_ok=True)
    checks, runs = Checks(log, "stalls"), Runs(library, analyze, out)
    for case in HANGS:
        check_hang(checks, runs, case)
    check_long(checks, runs)
    for case in QUIET:
        check_quiet(checks, runs, case)
    check_ranks(checks, runs)
    return summary(log, out / "results.json")


def main():
    parser, commands, _ = command_line(__doc__, "analyze")
    one = commands.add_parser("program")
    one.add_argument("case", choices=(*HANGS, "long", *QUIET))
    one.add_argument("file")
    commands.add_parser("rank").add_argument("rank", type=int)
    arguments = parser.parse_args()
    if arguments.command == "program":
        return program(arguments.case, arguments.file)
    if arguments.command == "rank":
        return rank_program(arguments.rank)
    return check(arguments.library, arguments.analyze, arguments.out)


if __name__ == "__main__":
    sys.exit(main())
