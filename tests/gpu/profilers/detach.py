#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Windows of a training program, with CUPTI taken out in between (TRACEINJECT_DETACH), with CUPTI there, and by order (analyze trigger):
it runs as without us, each window is whole, and what a step between windows costs.

The program waits for the GPU after each step, so that the work of a step lies between its times.

    detach.py check --library libtraceinject.so --out OUT
    detach.py run NAME RESULT.json [TRIGGER] (the program: steps, launch_bound, threads, profiler)
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
from profiler import Check as ProfilerCheck  # noqa: E402
from profiler import Recording, read_trace  # noqa: E402

WORKLOADS = pathlib.Path(__file__).resolve().parents[3] / "samples" / "workloads"
PROGRAMS = ("steps", "launch_bound", "threads", "profiler")
STEPS, PERIOD, RECORDED, SETTLE = 400, 20, 4, 2
THREADS = 3
PROFILED_FROM, PROFILED_EVERY, PROFILED_STEPS = 65, 100, 5  # all within the unrecorded part of a period
RUN_LIMIT_S = 200
ORDERED = 8  # steps of each period: an order takes effect a look or two later
PLANNED = f"every:{PERIOD}:{RECORDED}"
MODES = {
    "detached": {"TRACEINJECT_WINDOW": PLANNED, "TRACEINJECT_DETACH": "1"},
    "attached": {"TRACEINJECT_WINDOW": PLANNED},
    "ordered": {"TRACEINJECT_WINDOW": "trigger", "TRACEINJECT_FLUSH_MS": "50"},
}


# ---- the program

def launch(ended):
    """Kernels on a stream of the thread's own."""
    import torch
    stream, numbers = torch.cuda.Stream(), torch.zeros(1024, device="cuda")
    with torch.cuda.stream(stream):
        while not ended.is_set():
            for _ in range(50):
                numbers.add_(1)
            stream.synchronize()
            time.sleep(0.001)


def order(number, trigger):
    """What `analyze trigger` does, without a process each time."""
    word = {PERIOD - ORDERED: "start", 0: "stop"}.get(number % PERIOD)
    if word is not None:
        pathlib.Path(f"{trigger}.new").write_text(f"{word}\n")
        os.replace(f"{trigger}.new", trigger)


def run(name, result, trigger=None):
    import torch
    from torch.profiler import ProfilerActivity, profile
    sys.path.insert(0, str(WORKLOADS))
    import transformer
    torch.use_deterministic_algorithms(True)  # else the loss differs in its last digits from run to run
    preset = "launch-bound" if name == "launch_bound" else "compute"
    sys.argv = ["transformer.py", "--preset", preset, "--steps", str(STEPS), "--workers", "0"]
    trainer = transformer.Trainer(transformer.parse_options())
    ended = threading.Event()
    threads = [threading.Thread(target=launch, args=(ended,)) for _ in range(THREADS * (name == "threads"))]
    for thread in threads:
        thread.start()
    times, profiles, profiler, folder = [], [], None, tempfile.mkdtemp()
    for number in range(1, STEPS + 1):
        phase = (number - PROFILED_FROM) % PROFILED_EVERY
        if name == "profiler" and number >= PROFILED_FROM and phase == 0:
            profiler = profile(activities=[ProfilerActivity.CUDA])
            profiler.__enter__()
        if trigger is not None:
            order(number, trigger)
        begin = time.time_ns()
        trainer.step()
        trainer.synchronise()
        times.append((begin, time.time_ns()))
        if profiler is not None and phase == PROFILED_STEPS - 1:
            profiler.__exit__(None, None, None)
            profiler.export_chrome_trace(f"{folder}/trace.json")
            profiles.append(len(read_trace(f"{folder}/trace.json")["kernels"]))
            profiler = None
    ended.set()
    for thread in threads:
        thread.join()
    pathlib.Path(result).write_text(json.dumps({"times": times, "profiles": profiles, "loss": trainer.replicas[0].loss.item()}))


# ---- the checks

def unrecorded_steps(times):
    """Those between windows, but for the ones next to them and the first period."""
    return [end - begin for number, (begin, end) in enumerate(times, 1)
            if number > PERIOD and SETTLE < number % PERIOD < PERIOD - ORDERED - SETTLE]


def steps_in_windows(times, gaps):
    return [(begin, end) for begin, end in times if all(end < since or begin > until for since, until in gaps)]


class Check:
    def __init__(self, library, out):
        self.library, self.out = pathlib.Path(library).resolve(), pathlib.Path(out)

    def play(self, name, mode):
        """`mode` None: without us."""
        label = f"{name}.{mode or 'plain'}"
        result, database = self.out / f"{label}.json", self.out / f"{label}.db"
        environment = dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:8")
        if mode is not None:
            environment.update(LD_PRELOAD=str(self.library), TRACEINJECT_OUTPUT=str(database), TRACEINJECT_LOG=str(self.out / f"{label}.library.log"),
                               **MODES[mode])
        trigger = [f"{database}.trigger"] if mode == "ordered" else []
        ended = subprocess.run(["timeout", "-s", "KILL", str(RUN_LIMIT_S), sys.executable, __file__, "run", name, str(result), *trigger],
                               env=environment, capture_output=True, text=True)
        (self.out / f"{label}.log").write_text(ended.stdout + ended.stderr)
        return (json.loads(result.read_text()) if ended.returncode == 0 else None), ended

    def program(self, name):
        judge = checks.Checks(self.out / "checks.jsonl", f"detach {name}")
        plain, plain_ended = self.play(name, None)
        if plain is None:
            return judge.skip("runs", f"without us it ends with {plain_ended.returncode}: {plain_ended.stderr.strip()[-200:]}")
        for mode in MODES:
            traced, ended = self.play(name, mode)
            if traced is None:
                judge.add(f"{mode}, runs", False, f"exit code {ended.returncode} with us, 0 without: {ended.stderr.strip()[-200:]}")
                continue
            self.compare(judge, name, mode, (plain, plain_ended), (traced, ended))
            self.check_recording(judge, name, mode, traced, Recording(self.out / f"{name}.{mode}.db"))
            step, before = (statistics.median(unrecorded_steps(one["times"])) for one in (traced, plain))
            judge.note(f"{mode}, step between windows", f"{step / 1e6:.3f} ms, {before / 1e6:.3f} without us ({100 * (step / before - 1):+.2f} %)")

    @staticmethod
    def compare(judge, name, mode, without, with_us):
        (plain, plain_ended), (traced, ended) = without, with_us
        words = ProfilerCheck.words(ended)
        judge.add(f"{mode}, output", words == ProfilerCheck.words(plain_ended), f"{len(words)} lines: {words[:3]}")
        judge.add(f"{mode}, same result", plain["loss"] == traced["loss"], f"loss {traced['loss']}, {plain['loss']} without us")
        if name == "profiler":
            judge.add(f"{mode}, its profiles", traced["profiles"] == plain["profiles"], f"{traced['profiles']}, {plain['profiles']} without us")

    @staticmethod
    def check_recording(judge, name, mode, traced, recording):
        gaps = [(recording.base + start, recording.base + start + dur if dur is not None else 2 ** 63) for start, dur in
                recording.rows("SELECT start, dur FROM capture_gap")]
        starts = sorted(start for kernels in recording.kernels().values() for start, _, _ in kernels)
        inside = steps_in_windows(traced["times"], gaps)
        counts = [sum(begin <= start <= end for start in starts) for begin, end in inside]
        if name == "threads":  # what they launch is in no step
            judge.add(f"{mode}, windows", len(inside) >= STEPS // PERIOD and min(counts, default=0) > 0, f"{len(inside)} steps, of {min(counts, default=0)} kernels or more")
        else:
            judge.add(f"{mode}, windows are whole", len(inside) >= STEPS // PERIOD and len(set(counts)) == 1,
                      f"{len(inside)} steps, kernels in each: {sorted(set(counts))}")
        kernels, alone = recording.launches()
        if mode != "detached":
            judge.add(f"{mode}, each kernel has its launch", kernels > 0 and alone == 0, f"{alone} of {kernels} have none")
        else:
            judge.note("detached, kernels without a launch", f"{alone} of {kernels}")
        left, kept = recording.count("cupti", "detached"), recording.count("cupti", "kept")
        due = STEPS // PERIOD - 1 if mode == "detached" else 0
        judge.add(f"{mode}, times that CUPTI was left", left + kept >= due and (name == "profiler" or kept == 0) and (due > 0 or left == 0),
                  f"{left}, kept {kept} times")
        for source, counter in (("cupti", "errors"), ("cupti", "dropped"), ("kernel", "dropped")):
            judge.add(f"{mode}, {source}.{counter}", recording.count(source, counter) == 0, str(recording.count(source, counter)))


def main():
    if len(sys.argv) in (4, 5) and sys.argv[1] == "run":
        return run(*sys.argv[2:])
    return checks.check_programs(__doc__, PROGRAMS, Check)


if __name__ == "__main__":
    sys.exit(main())
