#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which line of a program a verdict names (see planted_lines.sh).

  planted_lines.py check --library FILE --analyze FILE --out OUT    records the programs below and compares
  planted_lines.py program CASE                                     one of them; prints the time its planted line took a step, in ms
"""

import json
import math
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

SELF = pathlib.Path(__file__).resolve()
SECONDS, LIMIT_S, WARM_UP_STEPS = 4, 90, 10
# The label that each case has to get; "": no host code is to be blamed.
CASES = {"sleep": "host_code", "numpy": "host_code", "interpreter": "host_code", "import": "host_code", "lock": "host_code", "item": "sync_bound",
         "elementwise": "launch_bound", "worker": "dataloader", "rank": "straggler", "none": ""}
RANKS = {"rank": 2}  # processes, each with a GPU of its own
RANK_STEPS = 60
SHARE_POINTS = 5  # of the step, between the time told and that by the program's own clock


def planted_line(case):
    """The number of the line that ends with this mark."""
    lines = SELF.read_text().splitlines()
    return 1 + next(i for i, line in enumerate(lines) if line.endswith(f"# planted: {case}"))


class Program:
    def __init__(self, case):
        import numpy
        import torch
        self.numpy, self.torch, self.case, self.planted_s = numpy, torch, case, 0.0
        self.rank = int(os.environ.get("RANK", 0))
        torch.cuda.set_device(self.rank)
        if case == "lock":
            self.lock, self.want, self.is_held = threading.Lock(), threading.Semaphore(0), threading.Semaphore(0)
            threading.Thread(target=self.hold, daemon=True).start()
        self.model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(2048, 2048), torch.nn.GELU()) for _ in range(6)]).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        self.input, self.target = (torch.randn(512, 2048, device="cuda") for _ in range(2))
        if case in RANKS:
            torch.distributed.init_process_group("nccl")
            self.model = torch.nn.parallel.DistributedDataParallel(self.model)
            self.square = torch.randn(4096, 4096, device="cuda")

    def roots(self):
        return sum(math.sqrt(i) for i in range(300))

    def sort(self):
        return sorted(random.random() for _ in range(200))

    def texts(self):
        return {i: str(i) for i in range(200)}

    def hold(self):
        """Another thread, which has the lock for a while in each step."""
        while True:
            self.want.acquire()
            with self.lock:
                self.is_held.release()
                time.sleep(0.012)

    def host_work(self):
        if self.case == "sleep":
            time.sleep(0.012)  # planted: sleep
        elif self.case == "numpy":
            self.numpy.random.default_rng().random(1_500_000)  # planted: numpy
        elif self.case == "interpreter":
            sum(i * i for i in range(150_000))  # planted: interpreter
        elif self.case == "import":
            sys.modules.pop("_pydecimal", None)
            import _pydecimal  # noqa: F401  # planted: import
        elif self.case == "lock":
            self.want.release()
            self.is_held.acquire()
            self.lock.acquire()  # planted: lock
            self.lock.release()
        elif self.case == "rank" and self.rank == 1:
            for _ in range(40):
                self.square @ self.square  # planted: rank

    def change_gradients(self):
        if self.case == "elementwise":
            for parameter in self.model.parameters():
                row = parameter.grad[0]
                for _ in range(30):
                    row.mul_(0.999).add_(row, alpha=1e-6)  # planted: elementwise
        elif self.case == "item":
            for parameter in self.model.parameters():
                for row in parameter.grad[:12]:
                    row.sum().item()  # planted: item

    def timed(self, work):
        began = time.perf_counter()
        work()
        self.planted_s += time.perf_counter() - began

    def step(self):
        self.roots()
        self.timed(self.host_work)
        self.sort()
        loss = ((self.model(self.input) - self.target) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        if self.case == "item":
            self.timed(self.change_gradients)
        else:
            self.change_gradients()
        self.texts()
        self.optimizer.step()

    def batches(self):
        if self.case == "worker":
            yield from self.torch.utils.data.DataLoader(Samples(), batch_size=8, num_workers=2)
        while self.case != "worker":
            yield None

    def run(self):
        steps, began = 0, 0.0
        for _ in self.batches():
            if self.case in RANKS and steps == RANK_STEPS:  # of all ranks
                break
            if steps == WARM_UP_STEPS:
                self.torch.cuda.synchronize()
                began, self.planted_s = time.perf_counter(), 0.0
            self.step()
            steps += 1
            if self.case not in RANKS and began and time.perf_counter() - began > SECONDS:
                break
        self.torch.cuda.synchronize()
        return 1e3 * self.planted_s / (steps - WARM_UP_STEPS)


class Samples:
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        time.sleep(0.004)  # planted: worker
        return float(index)


def busy_share(report):
    """Of the judged steps."""
    total = report["steps"][0]["sum"]
    return 1 - sum(float(one["ns"]) for one in total.get("idle", [])) / float(total["length_ns"])


def gpus():
    import torch
    return torch.cuda.device_count()


def record(library, case, out):
    """The recordings, one a rank, and what was printed."""
    for old in out.glob(f"{case}*.db"):
        old.unlink()
    environment = os.environ | {"LD_PRELOAD": str(library), "TRACEINJECT_OUTPUT": str(out / f"{case}.db")}
    ranks = RANKS.get(case, 1)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)] if ranks > 1 else []
    ran = subprocess.run([sys.executable, *launcher, str(SELF), "program", case], env=environment, check=True, timeout=LIMIT_S,
                         capture_output=True, text=True)
    return sorted(out.glob(f"{case}*.db")), ran.stdout


def judge_rank(checks, report):
    told, here = json.dumps(report["verdict"]), f"{SELF.name}:{planted_line('rank')}"
    label = report["verdict"].get("label", "no label")
    checks.add("rank: label", label == CASES["rank"], f"{label}, {CASES['rank']} expected")
    checks.add("rank: line", here in told, f"{here} expected in the verdict's evidence")
    checks.add("rank: rank", "rank 1" in told, "rank 1 expected")


def judge(checks, case, report, planted_ms):
    verdict = report["verdict"]
    label, places = verdict.get("label", ""), verdict.get("code", [])
    if not CASES[case]:
        checks.add(f"{case}: no host code is blamed", label not in ("host_code", "dataloader"), label or "no label")
        return
    checks.add(f"{case}: label", label == CASES[case], f"{label or 'no label'}, {CASES[case]} expected")
    named = places[0] if places else {}
    here = named.get("file", "").endswith(SELF.name) and int(named.get("line", 0)) == planted_line(case)
    checks.add(f"{case}: line", here, f"{named.get('place', 'none')}, line {planted_line(case)} expected")
    if planted_ms >= 1 and here:
        step_ms = float(report["steps"][0]["median_ns"]) / 1e6
        told_ms = float(named["ns"]) / 1e6
        # Only what the GPU idles is told: at the start of the line it may still have as much to do as in a whole step.
        busy_ms = step_ms * busy_share(report)
        over, under = 100 * (told_ms - planted_ms) / step_ms, 100 * (planted_ms - busy_ms - told_ms) / step_ms
        checks.add(f"{case}: time within {SHARE_POINTS} points of the step", max(over, under) <= SHARE_POINTS,
                   f"{told_ms:.2f} ms told, {planted_ms:.2f} ms by the program's clock, GPU busy for {busy_ms:.2f} ms of {step_ms:.2f} ms",
                   points=over)


def check(library, analyze, out, cases):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "lines")
    for case in cases:
        if RANKS.get(case, 1) > gpus():
            checks.skip(case, f"needs {RANKS[case]} GPUs")
            continue
        try:
            recordings, printed = record(library, case, out)
            told = subprocess.run([analyze, *map(str, recordings), "--format", "json"], check=True, timeout=LIMIT_S, capture_output=True, text=True)
        except subprocess.SubprocessError as error:
            checks.add(f"{case}: runs", False, f"{error}: {getattr(error, 'stderr', '')}"[-500:])
            continue
        (out / f"{case}.json").write_text(told.stdout)
        if case in RANKS:
            judge_rank(checks, json.loads(told.stdout))
        else:
            judge(checks, case, json.loads(told.stdout), float(printed.split()[-1]))
    return summary(log, out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__, "analyze")
    checking.add_argument("--case", action="append", choices=CASES, dest="cases", help="only this; may be repeated")
    commands.add_parser("program").add_argument("case", choices=CASES)
    arguments = parser.parse_args()
    if arguments.command == "program":
        print(Program(arguments.case).run())
        return 0
    return check(arguments.library, arguments.analyze, arguments.out, arguments.cases or CASES)


if __name__ == "__main__":
    sys.exit(main())
