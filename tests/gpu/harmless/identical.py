#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A deterministic training script with and without the library: everything it shows must be identical (see identical.sh).

  identical.py check --library FILE --gpus N --out OUT    runs the modes below, plain and recorded, and compares
  identical.py train MODE                                 the script: eager, exception, compiled or parallel; writes into the working
                                                          directory state.pt, and digests.json with a hash of each tensor

Where a recorded run differs from a plain one, a second plain run tells whether the script itself differs from run to run: then
nothing can be said, which counts as failed.
"""

import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
STEPS, SAMPLES, BATCH = 12, 64, 4
LIMIT_S = 200
# What each mode ends with: by sys.exit, or by an exception that nobody catches.
EXIT_CODES = {"eager": 7, "exception": 1, "compiled": 7, "parallel": 7}


def digests(torch, state, path=""):
    """{path of a tensor in nested containers: hash of its bytes}; other values by their text."""
    if isinstance(state, torch.Tensor):
        content = state.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        return {path: hashlib.sha256(content.numpy().tobytes()).hexdigest()}
    if isinstance(state, (dict, list, tuple)):
        items = state.items() if isinstance(state, dict) else enumerate(state)
        return {name: value for key, below in items for name, value in digests(torch, below, f"{path}/{key}").items()}
    return {path: repr(state)}


class Training:
    """A small transformer with attention, fed by workers."""

    def __init__(self, torch, mode):
        sys.path.insert(0, str(HERE.parents[2] / "samples" / "workloads"))
        import transformer
        self.torch = torch
        self.device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        rank = int(os.environ.get("RANK", "0"))
        torch.cuda.set_device(self.device)
        if mode == "parallel":
            torch.distributed.init_process_group("nccl", device_id=self.device)
        torch.manual_seed(1)
        self.model = transformer.Transformer(layers=3, width=256, heads=4, sequence=128, vocabulary=512).to(self.device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.module = self.model
        if mode == "compiled":
            self.module = torch.compile(self.model)
        if mode == "parallel":
            self.module = torch.nn.parallel.DistributedDataParallel(self.model, device_ids=[self.device.index])
        data = transformer.SyntheticTokens(SAMPLES, 128, 512, seed=rank * SAMPLES)
        self.loader = torch.utils.data.DataLoader(data, batch_size=BATCH, num_workers=2, pin_memory=True, shuffle=True,
                                                  generator=torch.Generator().manual_seed(2))

    def step(self, tokens):
        tokens = tokens.to(self.device, non_blocking=True)
        with self.torch.autocast("cuda", dtype=self.torch.bfloat16):
            loss = self.module(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.item()


def train(mode):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    torch.use_deterministic_algorithms(True)
    training = Training(torch, mode)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        for number, tokens in enumerate(training.loader):
            if number == STEPS:
                break
            print(f"step {number} loss {training.step(tokens).hex()}", flush=True)
            if mode == "exception" and number == STEPS // 2:
                print("about to fail", file=sys.stderr)
                raise RuntimeError("the script fails as planned")
    state = {"model": training.model.state_dict(), "optimizer": training.optimizer.state_dict()}
    torch.save(state, "state.pt")
    pathlib.Path("digests.json").write_text(json.dumps(digests(torch, torch.load("state.pt"))))
    print("peak bytes", torch.cuda.max_memory_allocated(training.device))
    print("saved", file=sys.stderr)
    if mode == "parallel":
        torch.distributed.destroy_process_group()
    sys.exit(7)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def rank_environments(mode):
    """What tells the processes of a mode apart."""
    if mode != "parallel":
        return [{}]
    job = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "NCCL_NVLS_ENABLE": "0"}
    return [job | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(2)]


class Shown:
    """What a process showed to the world."""

    def __init__(self, folder, code):
        self.code = code
        self.printed = {name: (folder / name).read_bytes() for name in ("stdout", "stderr")}
        self.files = sorted(path.name for path in folder.iterdir())
        digest = folder / "digests.json"
        self.digests = json.loads(digest.read_text()) if digest.is_file() else {}

    def differences(self, other):
        """Words for what is not the same."""
        found = [f"exit code {self.code} and {other.code}"] if self.code != other.code else []
        found += [f"{name} differs" for name in self.printed if self.printed[name] != other.printed[name]]
        if self.files != other.files:
            found.append(f"files {self.files} and {other.files}")
        names = self.digests.keys() | other.digests.keys()
        wrong = sum(self.digests.get(name) != other.digests.get(name) for name in names)
        return found + ([f"{wrong} of {len(names)} values of the state differ"] if wrong else [])


def caches(folder):
    """Of the compiler, outside of the folder: each run compiles anew."""
    return {"TORCHINDUCTOR_CACHE_DIR": folder.with_name(folder.name + ".inductor"),
            "TRITON_CACHE_DIR": folder.with_name(folder.name + ".triton")}


def start(mode, folder, environment):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fixed = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    fixed |= {variable: str(path) for variable, path in caches(folder).items()}
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        return subprocess.Popen([sys.executable, str(HERE / "identical.py"), "train", mode], cwd=folder, stdout=out, stderr=err,
                                env=os.environ | fixed | environment)


def run(mode, out, name, library=None):
    """One Shown a rank."""
    ranks = rank_environments(mode)
    folders = [out / f"{mode}.{name}.{rank}" for rank in range(len(ranks))]
    traced = {"LD_PRELOAD": str(library), "TRACEINJECT_OUTPUT": str(out / f"{mode}.db")} if library else {}
    processes = [start(mode, folder, environment | traced) for folder, environment in zip(folders, ranks)]
    shown = []
    for process, folder in zip(processes, folders):
        try:
            code = process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = f"none within {LIMIT_S} s"
        shown.append(Shown(folder, code))
    for folder in folders:
        for cache in caches(folder).values():
            shutil.rmtree(cache, ignore_errors=True)
    return shown


def recordings(mode, out):
    """Kernels in each recording of the mode."""
    from run_db import RunDb
    return [RunDb(path).count("kernel") for path in sorted(out.glob(f"{mode}*.db"))]


def judge(checks, mode, plain, traced, kernels, again):
    """`again` runs the script once more without the library."""
    codes = [shown.code for shown in plain]
    if codes != [EXIT_CODES[mode]] * len(plain):
        return checks.skip(mode, f"without the library: exit codes {codes}, expected {EXIT_CODES[mode]}")
    checks.add(f"{mode}: recorded", len(kernels) == len(plain) and all(kernels), f"{kernels} kernels in {len(kernels)} recordings")
    unstable = None
    for rank, (before, after) in enumerate(zip(plain, traced)):
        found = before.differences(after)
        if found and unstable is None:
            unstable = [first.differences(second) for first, second in zip(plain, again())]
        detail = f"exit code {before.code}, {len(before.printed['stdout'])} + {len(before.printed['stderr'])} bytes printed, " \
                 f"{len(before.digests)} values of the state"
        if found:
            detail = "; ".join(found) + ("; and so do two runs without the library" if unstable[rank] else "")
        checks.add(f"{mode}: rank {rank} identical" if len(plain) > 1 else f"{mode}: identical", not found, detail)


def check(library, gpus, out, modes):
    out.mkdir(parents=True, exist_ok=True)
    log = out / "checks.jsonl"
    log.unlink(missing_ok=True)
    checks = Checks(log, "identical")
    for mode in modes or EXIT_CODES:
        if mode == "parallel" and gpus < 2:
            checks.skip(mode, "needs two GPUs")
            continue
        for old in out.glob(f"{mode}*.db*"):
            old.unlink()
        plain = run(mode, out, "plain")
        traced = run(mode, out, "traced", library)
        judge(checks, mode, plain, traced, recordings(mode, out), lambda: run(mode, out, "again"))
    return summary(log, out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__)
    checking.add_argument("--gpus", type=int, required=True)
    checking.add_argument("--mode", action="append", choices=EXIT_CODES, help="may be repeated (default: all)")
    commands.add_parser("train").add_argument("mode", choices=EXIT_CODES)
    arguments = parser.parse_args()
    if arguments.command == "train":
        return train(arguments.mode)
    return check(arguments.library, arguments.gpus, arguments.out, arguments.mode)


if __name__ == "__main__":
    sys.exit(main())
