#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs, the workloads of samples/ and some by others, with and without the library: all that they show must be the same (see others.sh).

  others.py check --library FILE --out OUT [option]...    runs them both ways and compares
  others.py run RESULT SCRIPT [ARGUMENT]...               runs a script as if it had been started itself, in deterministic mode, and writes
                                                          what it did to the file RESULT

Of each step of an optimizer a sum of each gradient and of each parameter is kept, and at the end the hash of all parameters. What also
differs between two runs without the library does not count; what a program prints is compared without its numbers, most of which are times.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import importlib.util
import json
import os
import pathlib
import pickle
import random
import re
import runpy
import shutil
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
INSIDE = HERE / "inside"  # the other folders have modules with names that programs use
WORKLOADS = HERE.parents[2] / "samples" / "workloads"
SETTLE_S = 1.0
# Exact numbers stay: Python's hex() of a float.
NUMBER = re.compile(r"(0x[01]\.[0-9a-f]+p[-+]\d+)|0x[0-9a-f]+|[-+]?\d[\d.,:]*(e[-+]?\d+)?|\b(nan|inf)\b")


# What is kept of a run.

class Steps:
    """Called after each step of an optimizer. Keeps sums on their device: the program goes on without waiting for them."""

    def __init__(self, torch):
        self.torch, self.optimizers, self.sums = torch, {}, []

    def __call__(self, optimizer, args, kwargs):
        self.optimizers[id(optimizer)] = optimizer
        if self.torch.cuda.is_available() and self.torch.cuda.is_current_stream_capturing():
            return
        with self.torch.no_grad():
            sums = [tensor.double().sum() for parameter in self.parameters(optimizer) for tensor in (parameter.grad, parameter)
                    if tensor is not None]
            if sums:
                self.sums.append(self.torch.stack([one.to(sums[0].device) for one in sums]))

    @staticmethod
    def parameters(optimizer):
        return [parameter for group in optimizer.param_groups for parameter in group["params"]]

    def digests(self):
        return [digest(sums) for sums in self.sums]

    def parameter_digests(self):
        return [digest(parameter.detach()) for optimizer in self.optimizers.values() for parameter in self.parameters(optimizer)]


def digest(tensor):
    import torch
    return hashlib.sha256(tensor.cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:16]


def random_states(torch):
    """A guest draws no random numbers."""
    states = {"python": random.getstate(), "torch": torch.get_rng_state().tolist()}
    if torch.cuda.is_initialized():
        states["cuda"] = torch.cuda.get_rng_state().tolist()
    if "numpy" in sys.modules:
        states["numpy"] = repr(sys.modules["numpy"].random.get_state())
    return {name: hashlib.sha256(repr(state).encode()).hexdigest()[:16] for name, state in states.items()}


def compiled_frames():
    """What torch.compile compiled: frames, graphs, breaks."""
    if "torch._dynamo" not in sys.modules:
        return {}
    counters = sys.modules["torch._dynamo"].utils.counters
    return {name: dict(sorted(counters[name].items())) for name in ("frames", "stats", "unimplemented")}


def settle():
    """The library's side in Python is put in place while the program runs: here before it begins."""
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        time.sleep(0.01)


def run(result, script, arguments):
    sys.path[:2] = [str(INSIDE)]
    import stand_in_cuda
    sys.path[0] = str(pathlib.Path(script).parent)
    import torch
    import torch.utils.data
    from torch.optim.optimizer import register_optimizer_step_post_hook
    steps = Steps(torch)
    register_optimizer_step_post_hook(steps)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark_limit = 1  # no choice by time where a program asks for it
    for kind in ("flash", "mem_efficient", "cudnn"):  # attention by matrix products: the backward of these adds up in any order
        getattr(torch.backends.cuda, f"enable_{kind}_sdp", bool)(False)
    torch.manual_seed(11)
    random.seed(11)
    if importlib.util.find_spec("numpy"):
        importlib.import_module("numpy").random.seed(11)
    if os.environ.get("STAND_IN_CUDA"):
        stand_in_cuda.use(os.environ["STAND_IN_CUDA"])
    torch.cuda.is_available()
    settle()
    sys.argv = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        kept = {"steps": steps.digests(), "parameters": steps.parameter_digests(), "random": random_states(torch), "compiled": compiled_frames(),
                "peak_bytes": torch.cuda.max_memory_allocated() if torch.cuda.is_initialized() else 0}
        pathlib.Path(result).write_text(json.dumps(kept))


# The programs.

# `prepare(folder)` makes what the program reads; `missing` says why it cannot run.
Program = collections.namedtuple("Program", "command prepare missing")


def nothing(folder):
    pass


def without(module):
    return "" if importlib.util.find_spec(module) else f"{module} is not installed"


def prepare_nanogpt(source):
    def prepare(folder):
        """Its folder, since it reads beside itself, with made-up tokens."""
        shutil.copytree(source, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".git", "assets", "data"))
        data = folder / "data" / "made_up"
        data.mkdir(parents=True)
        made = random.Random(3)
        for name in ("train.bin", "val.bin"):
            (data / name).write_bytes(b"".join(made.randrange(512).to_bytes(2, sys.byteorder) for _ in range(20_000)))
        (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 512}))
    return prepare


def prepare_images(folder):
    """A folder for each of four classes."""
    sys.path.append(str(WORKLOADS))
    import torch
    from images import write_png
    generator = torch.Generator().manual_seed(3)
    for split, count in (("train", 16), ("validation", 4)):
        for label in range(4):
            target = folder / "images" / split / f"class{label}"
            target.mkdir(parents=True)
            for number in range(count):
                write_png(target / f"{number}.png", torch.randint(0, 256, (72, 72, 3), dtype=torch.uint8, generator=generator))


def nanogpt(folder, device, compiled):
    script = str(folder / "train.py") if folder else ""
    sizes = ["--n_layer=3", "--n_head=4", "--n_embd=128", "--block_size=128", "--batch_size=8", "--gradient_accumulation_steps=2", "--dropout=0.1"]
    lengths = ["--max_iters=12", "--eval_interval=6", "--eval_iters=3", "--warmup_iters=2"]
    return Program(["train.py", "--dataset=made_up", f"--compile={compiled}", f"--device={device}", *(["--dtype=float32"] * (device == "cpu")), *sizes, *lengths],
                   prepare_nanogpt(folder), "" if script and pathlib.Path(script).is_file() else "a checkout is given with --nanogpt")


def timm(folder, device):
    script = folder / "train.py" if folder else None
    command = [str(script), "--data-dir", "images", "--model", "resnet18", "--num-classes", "4", "--img-size", "64", "-b", "16", "--epochs", "2",
               "--workers", "2", "--seed", "1", "--output", "output", "--experiment", "made_up", "--log-interval", "1", "--checkpoint-hist", "1",
               "--opt", "adamw", "--lr", "1e-3", "--device", device, *(["--amp"] * (device == "cuda"))]
    return Program(command, prepare_images, without("timm") if script and script.is_file() else "a folder with train.py is given with --timm")


def programs(options):
    """By name; those that take longest first."""
    device = options.device
    sample = {name: str(WORKLOADS / f"{name}.py") for name in ("transformer", "rnn", "images", "bottlenecks")}
    small = ["--warmup", "2", "--steps", "8"]
    gpu_only = "" if device == "cuda" else "needs a GPU"
    own = {name: Program([str(INSIDE / "others_programs.py"), name, device], nothing, without(module))
           for name, module in (("trainer", "transformers"), ("lightning", "lightning"), ("geometric", "torch_geometric"))}
    return {
        "nanogpt compiled": nanogpt(options.nanogpt, device, True),
        "transformer compiled": Program([sample["transformer"], "--compile", "--layers", "4", *small], nothing, gpu_only),
        "trainer": own["trainer"], "lightning": own["lightning"], "geometric": own["geometric"],
        "timm": timm(options.timm, device),
        "nanogpt": nanogpt(options.nanogpt, device, False),
        "transformer": Program([sample["transformer"], "--layers", "6", *small], nothing, gpu_only),
        "launch-bound transformer": Program([sample["transformer"], "--preset", "launch-bound", *small], nothing, gpu_only),
        "rnn": Program([sample["rnn"], "--device", device, *small], nothing, ""),
        "rnn as a graph": Program([sample["rnn"], "--graph", *small], nothing, gpu_only),
        "images": Program([sample["images"], "--device", device, "--files", "8", "--batch", "8", "--workers", "2", *small], nothing, ""),
        "bottlenecks": Program([sample["bottlenecks"], "--cause", "checkpoint", "--steps", "10", "--settle", "2"], nothing, gpu_only),
    }


# Running and comparing.

AGAIN = 3  # runs without the library that tell whether a program differs from run to run

class Shown:
    """What a run showed to the world."""

    def __init__(self, folder, code):
        self.code = code
        self.printed = {name: self.masked((folder / name).read_text(errors="replace"), folder) for name in ("stdout", "stderr")}
        result = folder / "result.json"
        self.kept = json.loads(result.read_text()) if result.is_file() else {}
        self.last_line = (self.printed["stderr"].strip().splitlines() or [""])[-1]

    @staticmethod
    def masked(text, folder):
        """Without the folder, numbers that are no exact ones, and the width of columns."""
        return re.sub("[ \t]+", " ", NUMBER.sub(lambda found: found[1] or "#", text.replace(str(folder), "FOLDER")))

    def differences(self, other):
        """Names of what is not the same."""
        found = {"exit code"} if self.code != other.code else set()
        found |= {name for name in self.printed if self.printed[name] != other.printed[name]}
        return found | {name for name in self.kept.keys() | other.kept.keys() if self.kept.get(name) != other.kept.get(name)}


def environment(options, folder, traced):
    kept = {variable: value for variable, value in os.environ.items() if not variable.startswith("TRACEINJECT_") and variable != "LD_PRELOAD"}
    kept.update({"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
                 "TORCHINDUCTOR_CACHE_DIR": f"{folder}.inductor", "TRITON_CACHE_DIR": f"{folder}.triton", "TORCHINDUCTOR_COMPILE_THREADS": "4",
                 "HF_HUB_OFFLINE": "1"})
    if options.cuda:
        kept.update({"STAND_IN_CUDA": str(options.cuda), "LD_LIBRARY_PATH": str(options.cuda), "CUDA_VISIBLE_DEVICES": ""})
    if traced:
        kept.update({"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": f"{folder}.db"})
    return kept


def run_program(options, name, program, arm):
    folder = options.out / f"{name.replace(' ', '_')}.{arm}"
    for path in options.out.glob(f"{folder.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    folder.mkdir(parents=True)
    program.prepare(folder)
    command = [sys.executable, str(HERE / "others.py"), "run", str(folder / "result.json"), *program.command]
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   env=environment(options, folder, arm == "recorded"))
        try:
            code = process.wait(options.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = f"none within {options.seconds:.0f} s"
    for cache in ("inductor", "triton"):
        shutil.rmtree(f"{folder}.{cache}", ignore_errors=True)
    return Shown(folder, code)


def recorded_rows(folder, name, table):
    import run_db
    return sum(run_db.RunDb(path).count(table) for path in folder.glob(f"{name.replace(' ', '_')}.recorded*.db"))


def judge(checks, name, plain, recorded, rows, again):
    """`again` runs the program some more times without the library. True if it could be compared."""
    if plain.code != 0 or not plain.kept.get("steps"):
        checks.skip(name, f"without the library: exit code {plain.code}, {len(plain.kept.get('steps', ()))} steps; {plain.last_line}")
        return False
    found = plain.differences(recorded)
    unstable = set().union(*(plain.differences(other) for other in again())) if found else set()
    if unstable:
        checks.note(f"{name}: differs between runs without the library", ", ".join(sorted(unstable)))
    if unstable & {"steps", "parameters", "exit code"}:
        checks.skip(name, "its results differ between runs without the library")
        return False
    frames = plain.kept["compiled"].get("frames")
    detail = f"{len(plain.kept['steps'])} steps, {len(plain.kept['parameters'])} parameters" + (f", frames {frames}" if frames else "")
    found -= unstable
    told = "; ".join(f"{what}: {plain.kept.get(what)} and {recorded.kept.get(what)}"[:300] if what in ("compiled", "peak_bytes", "random") else what
                     for what in sorted(found))
    checks.add(f"{name}: identical", not found, told + f"; exit codes {plain.code} and {recorded.code}" if found else detail)
    checks.add(f"{name}: recorded", rows > 0, f"{rows} rows")
    if name.endswith("compiled"):
        checks.add(f"{name}: compiled", bool(frames), f"frames {frames}")
    return True


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / "checks.jsonl"
    log.write_text("")
    checks, table, compared = Checks(log, "others"), "step_mark" if options.cuda else "kernel", 0
    chosen = {name: program for name, program in programs(options).items() if not options.program or name in options.program}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = {(name, arm): pool.submit(run_program, options, name, program, arm)
                for name, program in chosen.items() if not program.missing for arm in ("plain", "recorded")}
        for name, program in chosen.items():
            if program.missing:
                checks.skip(name, program.missing)
                continue
            plain, recorded = (runs[name, arm].result() for arm in ("plain", "recorded"))
            compared += judge(checks, name, plain, recorded, recorded_rows(options.out, name, table),
                              lambda: [run_program(options, name, program, "again") for _ in range(AGAIN)])
    checks.add("programs compared", compared >= options.least, f"{compared}, at least {options.least} expected")
    return summary(log, options.out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__)
    checking.add_argument("--nanogpt", type=pathlib.Path, help="a checkout of nanoGPT")
    checking.add_argument("--timm", type=pathlib.Path, help="a folder with timm's train.py")
    checking.add_argument("--program", action="append", metavar="NAME", help="may be repeated (default: all)")
    checking.add_argument("--least", type=int, help="programs that have to be compared (default: 8, or all that are named)")
    checking.add_argument("--jobs", type=int, default=6, help="processes at a time (default: %(default)s)")
    checking.add_argument("--seconds", type=float, default=200, help="for one run of a program (default: %(default)s)")
    checking.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: to try this script")
    checking.add_argument("--cuda", type=pathlib.Path, help="a folder of tests/fake_gpu's build, to be used in place of a GPU")
    running = commands.add_parser("run")
    running.add_argument("result")
    running.add_argument("script")
    running.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.command == "run":
        return run(options.result, options.script, options.arguments)
    for name in ("nanogpt", "timm", "cuda"):
        if getattr(options, name):
            setattr(options, name, getattr(options, name).resolve())
    if options.least is None:
        options.least = len(options.program) if options.program else 8
    return check(options)


if __name__ == "__main__":
    sys.exit(main())
