#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often the line that holds up the GPU is named first: generated training loops on the fake GPU, one slow line in each among twenty others.

    planted_places.py build/release --seeds 100
    planted_places.py build/release --seeds 12 --kinds lock,import --keep /tmp/places

Each seed makes a program: which kind of line is slow, how long it takes, where it stands, how deep its callers are nested, what the other
lines do and what the GPU has to do. Told are label, line, and the GPU's idle time at it against the program's own clock. With --keep the
programs and recordings of those that fail stay there.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECONDS, LIMIT_S, OTHERS = 3, 90, 20
SHARE_POINTS = 5  # of the step, between the time told and that by the program's own clock

# Of each kind: the statement that is slow for {ms}, in a function of its own that has the arguments of the program's `state`; and the label.
KINDS = {
    "sleep": ("time.sleep({ms} / 1e3)", "host_code"),
    "numeric": ("hashlib.pbkdf2_hmac('sha256', b'x', b'y', int({ms} * state.hashes_a_ms))", "host_code"),
    "interpreter": ("sum(i * i for i in range(int({ms} * state.sums_a_ms)))", "host_code"),
    "import": ("importlib.reload(tables)", "host_code"),
    "lock": ("state.take_lock()", "host_code"),
    "item": ("state.fetch()", ""),
    "elementwise": ("for _ in range({launches}): gpu_calls.add_(state.tiny)", "launch_bound"),
    "worker": ("time.sleep({ms} / 1e3 * state.samples_a_batch)", "dataloader"),
}

# What stands for installed packages.
LIBRARIES = {
    "gpu_calls": '''import ctypes
from stacks_program import Dim3, Kernel

CUDA, ONE, MAGIC = ctypes.CDLL("libcudart.so.13"), Dim3(1, 1, 1), 0x4b45524e454c4b31


def kernel(name, length_ns):
    return Kernel(MAGIC, name, length_ns, 32, 0, 0)


def launch(kernel):
    CUDA.cudaLaunchKernel(ctypes.byref(kernel), ONE, ONE, None, ctypes.c_size_t(0), None)


def add_(kernel):
    for _ in range(300):  # dispatch
        pass
    launch(kernel)
''',
    "tables": "import time\n\nuntil, table = time.perf_counter() + {ms} / 1e3, {{}}\nwhile time.perf_counter() < until:\n    table[len(table) % 1000] = str(until)\n",
}

PROGRAM = '''"""Seed {seed}: {kind}"""
import ctypes, hashlib, importlib, json, sys, threading, time
import gpu_calls, tables
import torch
from gpu_calls import CUDA, launch


def pace(work, unit):
    start = time.perf_counter()
    work(unit)
    return unit / (time.perf_counter() - start) / 1e3


class State:
    samples_a_batch = 4

    def __init__(self):
        self.tiny = gpu_calls.kernel(b"tiny", 1000)
        self.kernels = [gpu_calls.kernel(name.encode(), length_ns) for name, length_ns in {kernels}]
        self.hashes_a_ms = pace(lambda unit: hashlib.pbkdf2_hmac("sha256", b"x", b"y", unit), 20_000)
        self.sums_a_ms = pace(lambda unit: sum(i * i for i in range(unit)), 200_000)
        self.lock, self.wanted, self.held, self.over = threading.Lock(), threading.Event(), threading.Event(), False
        self.planted_s, self.from_device, self.to_host = 0.0, ctypes.c_void_p(), ctypes.create_string_buffer(4)
        CUDA.cudaMalloc(ctypes.byref(self.from_device), ctypes.c_size_t(4096))

    def hold(self):
        """What another thread does: it has the lock for long."""
        while self.wanted.wait() and not self.over:
            self.wanted.clear()
            with self.lock:
                self.held.set()
                time.sleep({ms} / 1e3)

    def take_lock(self):
        self.wanted.set()
        self.held.wait()
        self.held.clear()
        self.lock.acquire()  # planted: lock
        self.lock.release()

    def fetch(self):
        CUDA.cudaMemcpy(self.to_host, self.from_device, ctypes.c_size_t(4), 2)  # planted: item


state = State()


{functions}


class Samples:
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if {in_worker}:
            {statement}  # planted: worker
        return index


def batches():
    if {in_worker}:
        yield from torch.utils.data.DataLoader(Samples(), batch_size=state.samples_a_batch, num_workers=2, multiprocessing_context="fork")
    while True:
        yield None


def timed(call):
    start = time.perf_counter()
    call()
    state.planted_s += time.perf_counter() - start


def step():
{body}


def main():
    steps, began = 0, 0.0
    if {is_lock}:
        threading.Thread(target=state.hold, daemon=True).start()
    for _ in batches():
        if steps == {warm_up}:
            began, state.planted_s = time.perf_counter(), 0.0
        step()
        steps += 1
        if began and time.perf_counter() - began > {seconds}:
            break
    print(json.dumps({{"planted_ms": 1e3 * state.planted_s / (steps - {warm_up}), "step_ms": 1e3 * (time.perf_counter() - began) / (steps - {warm_up})}}))
    sys.stdout.flush()
    state.over = True
    state.wanted.set()
    CUDA.cudaDeviceSynchronize()


main()
'''


def nested(name, depth, *statements):
    """A function that does it, called through others."""
    lines = [f"def {name}_{depth}():", *[f"    {statement}" for statement in statements], "", ""]
    for level in reversed(range(depth)):
        lines += [f"def {name}_{level}():", f"    {name}_{level + 1}()", "", ""]
    return "\n".join(lines)


def make_program(seed, kind):
    """Its text, and how many milliseconds a step the slow line takes as planned."""
    chance = random.Random(seed)
    ms = round(chance.uniform(5, 14), 2)
    launches = chance.randrange(400, 1200)
    statement = KINDS[kind][0].format(ms=ms, launches=launches)
    in_worker = kind == "worker"
    kernels = [(f"kernel_{i}", chance.randrange(20_000, 130_000)) for i in range(6)]
    is_item = kind == "item"
    if is_item:  # the host prepares, launches, and waits: what it could do ahead is done late
        kernels = [(name, 3 * length_ns) for name, length_ns in kernels]
    names, functions, body, late = [], [], [], []
    for number in range(OTHERS):
        short = round(chance.uniform(0.02, 0.3), 3)
        names.append(f"part_{number}")
        functions.append(nested(names[-1], chance.randrange(4), *chance.choice([
            (f"until = time.perf_counter() + {short} / 1e3", "while time.perf_counter() < until: pass"),
            (f"sorted(range(int(20000 * {short})))",), (f"hashlib.sha256(bytes(int(1e6 * {short}))).digest()",)])))
        launches = [f"    launch(state.kernels[{chance.randrange(6)}])"] * chance.randrange(3)
        body += [f"    {names[-1]}_0()"]
        (late if is_item else body).extend(launches)
    if not in_worker:
        mark = "" if kind in ("lock", "item") else f"  # planted: {kind}"
        functions.insert(chance.randrange(OTHERS), nested("slow", chance.randrange(1, 4), statement + mark))
        body += late
        body.insert(len(body) if is_item else chance.randrange(1, len(body)), "    timed(slow_0)")
    if not is_item:
        body += ["    launch(state.kernels[0])"] * 2
    return PROGRAM.format(seed=seed, kind=kind, kernels=kernels, ms=ms, functions="\n".join(functions), in_worker=in_worker,
                          statement=statement if in_worker else "pass", body="\n".join(body), is_lock=kind == "lock", warm_up=10, seconds=SECONDS), ms


def planted_line(program, kind):
    """Of `lock` and `item`, the program's own methods do it: the innermost line of its code."""
    return next(number for number, line in enumerate(program.split("\n"), 1) if line.endswith(f"# planted: {kind}"))


def record(build, folder, program, ms):
    (folder / "train.py").write_text(program)
    packages = folder / "site-packages"
    packages.mkdir()
    for name, text in LIBRARIES.items():
        (packages / f"{name}.py").write_text(text.format(ms=ms) if name == "tables" else text)
    environment = {**os.environ, "LD_PRELOAD": str(build / "lib" / "libtraceinject.so"), "LD_LIBRARY_PATH": str(build / "fake_gpu" / "cuda13"),
                   "PYTHONPATH": f"{packages}:{ROOT}/tests/end_to_end/stand_in:{ROOT}/tests/end_to_end", "PYTHONDONTWRITEBYTECODE": "1",
                   "STAND_IN_BUILTINS": str(build / "stand_in" / "builtins.so"), "TRACEINJECT_OUTPUT": str(folder / "run.db")}
    ended = subprocess.run([sys.executable, "train.py"], cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
    if ended.returncode:
        raise RuntimeError(ended.stderr)
    return json.loads(ended.stdout)


def judge(build, folder, kind, line, told):
    """What is wrong, by name; and the error of the share, in points of the step, where the program's clock tells it."""
    ended = subprocess.run([build / "bin" / "analyze", "report", folder / "run.db", "--format", "json"], capture_output=True, text=True, check=True)
    report = json.loads(ended.stdout)
    verdict, wrong, points = report["verdict"], {}, None
    label, places = verdict.get("label", "none"), verdict.get("code", [])
    if KINDS[kind][1] and label != KINDS[kind][1]:
        wrong["label"] = label
    first = places[0] if places else {}
    if int(first.get("line", 0)) != line or not first.get("file", "").endswith("train.py"):
        wrong["line"] = f"{first.get('place', 'none')} ({label})"
    elif kind not in ("item", "worker"):
        total = report["steps"][0]["sum"]
        busy = told["step_ms"] * (1 - sum(float(one["ns"]) for one in total.get("idle", [])) / float(total["length_ns"]))
        named = float(first["ns"]) / 1e6
        # Only what the GPU idles is told: at the start of the line it may still have as much to do as in a whole step.
        points = max(100 * (named - told["planted_ms"]), 100 * (told["planted_ms"] - busy - named), 0) / told["step_ms"]
        if points > SHARE_POINTS:
            wrong["share"] = f"{named:.2f} ms told, {told['planted_ms']:.2f} by the clock, GPU busy {busy:.2f} of {told['step_ms']:.2f}"
    return wrong, points


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="the CMake build folder")
    parser.add_argument("--seeds", type=int, default=len(KINDS), help="how many programs")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--kinds", default=",".join(KINDS), help="kinds of lines, in turns")
    parser.add_argument("--keep", type=pathlib.Path, help="where those that fail stay")
    options = parser.parse_args()
    build, kinds = options.build.resolve(), options.kinds.split(",")
    wrongs, points, counts = collections.Counter(), collections.defaultdict(list), collections.Counter()
    for number in range(options.seeds):
        seed, kind = options.first + number, kinds[number % len(kinds)]
        program, ms = make_program(seed, kind)
        counts[kind] += 1
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            wrong, off = judge(build, folder, kind, planted_line(program, kind), record(build, folder, program, ms))
            if off is not None:
                points[kind].append(off)
            for what, text in wrong.items():
                wrongs[kind, what] += 1
                print(f"seed {seed}, {kind}: {what}: {text}", flush=True)
            if wrong and options.keep:
                shutil.copytree(folder, options.keep / f"{kind}_{seed}", dirs_exist_ok=True)
    print(f"{'kind':12} {'programs':>8} {'line first':>10} {'label':>6} {'share':>6} {'worst share error':>18}")
    for kind, count in counts.items():
        worst = f"{max(points[kind]):.1f} points" if points[kind] else "-"
        print(f"{kind:12} {count:8} {count - wrongs[kind, 'line']:10} {count - wrongs[kind, 'label']:6} {count - wrongs[kind, 'share']:6} {worst:>18}")
    named = sum(counts.values()) - sum(wrongs[kind, "line"] for kind in counts)
    print(f"line named first: {named} of {sum(counts.values())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
