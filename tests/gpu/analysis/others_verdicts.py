#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on programs by others, and on programs for their packages, against the truth (see others_verdicts.sh).

  others_verdicts.py check --library FILE --analyze FILE --out OUT [option]...    runs them as they are and mended, and compares
  others_verdicts.py run SECONDS SCRIPT [ARGUMENT]...                             a script of theirs, ended after so long
  others_verdicts.py program NAME SECONDS as-is|mended                            one of those below

Each prints "step_ms" and the mean time of a step, without the first third of the run. A line that is slow on purpose ends with a mark.
Processes differ by themselves, so a program that can be mended runs as it is before it is recorded and after it, and then mended.
"""

import argparse
import glob
import json
import os
import pathlib
import random
import runpy
import shutil
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))

from checks import Checks, command_line, summary  # noqa: E402

SELF = pathlib.Path(__file__).resolve()
SECONDS, SECONDS_OF_SHORT_STEPS, LIMIT_S = 6, 3, 110


class Clock:
    """Of steps: once the time is over, prints and ends the program."""

    def __init__(self, seconds):
        self.seconds, self.ends = seconds, []

    def step(self):
        self.ends.append(time.perf_counter())
        if self.ends[-1] - self.ends[0] < self.seconds:
            return
        late = [end for end in self.ends if end - self.ends[0] > self.seconds / 3]
        print("step_ms", 1e3 * (late[-1] - late[0]) / (len(late) - 1), flush=True)
        raise SystemExit(0)


def each_optimizer_step(clock):
    from torch.optim.optimizer import register_optimizer_step_post_hook
    register_optimizer_step_post_hook(lambda *_: clock.step())


def run(seconds, script, arguments):
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    each_optimizer_step(Clock(seconds))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


# Programs for packages by others. Each takes its Clock, and whether it is mended.

def jax_loop(clock, mended):
    import jax
    import jax.numpy as jnp
    import numpy
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    weights = [jax.random.normal(key, (1024, 1024)) * 0.03 for key in keys]

    @jax.jit
    def step(weights, x):
        def loss(weights):
            y = x
            for weight in weights:
                y = jax.nn.relu(y @ weight)
            return jnp.mean(y ** 2)
        return [weight - 0.01 * gradient for weight, gradient in zip(weights, jax.grad(loss)(weights))]

    numbers = numpy.random.default_rng(1)
    x = numbers.standard_normal((2048, 1024), dtype="float32")
    while True:
        if not mended:
            x = numbers.standard_normal((2048, 1024), dtype="float32")  # slow: jax
        weights = step(weights, x)
        clock.step()


def flax_loop(clock, _):
    """Large products on batches that lie on the GPU: nothing of the host is to be blamed."""
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            for _ in range(6):
                x = nn.relu(nn.Dense(4096)(x))
            return nn.Dense(16)(x)

    network, optimizer = Network(), optax.adam(1e-3)
    x = jax.random.normal(jax.random.PRNGKey(1), (4096, 4096))
    parameters = network.init(jax.random.PRNGKey(2), x)
    state = optimizer.init(parameters)

    @jax.jit
    def step(parameters, state):
        gradients = jax.grad(lambda parameters: jnp.mean(network.apply(parameters, x) ** 2))(parameters)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(parameters, updates), state

    while True:
        parameters, state = step(parameters, state)
        jax.block_until_ready(parameters)
        clock.step()


def geometric(clock, mended):
    import torch
    from graph_network import GraphNetwork, random_graphs
    from torch_geometric.loader import DataLoader
    each_optimizer_step(clock)
    network = GraphNetwork().cuda()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    loader = DataLoader(random_graphs(20_000), batch_size=512, shuffle=True, num_workers=8 if mended else 0, persistent_workers=mended,
                        pin_memory=mended)
    while True:
        for batch in loader:  # slow: geometric
            optimizer.zero_grad()
            batch = batch.cuda(non_blocking=True)
            torch.nn.functional.cross_entropy(network(batch), batch.y).backward()
            optimizer.step()


class Texts:
    """Made when they are asked for, and cut into numbers in Python."""

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        made = random.Random(index)
        text = " ".join(made.choice("abcdefghij") * 3 for _ in range(128))
        numbers = [sum(map(ord, word)) % 512 for word in text.split()]  # slow: trainer
        return {"input_ids": numbers, "labels": numbers}


def trainer(clock, mended):
    import transformers
    each_optimizer_step(clock)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=512, n_positions=128, n_embd=256, n_layer=4, n_head=4))
    arguments = transformers.TrainingArguments(
        output_dir="checkpoints", max_steps=100_000, per_device_train_batch_size=64, logging_steps=50, save_steps=100_000, report_to="none",
        disable_tqdm=True, dataloader_num_workers=8 if mended else 0, bf16=True)
    transformers.Trainer(model=model, args=arguments, train_dataset=Texts()).train()


def lightning_fit(clock, mended):
    import lightning as package
    import torch
    each_optimizer_step(clock)

    class Network(package.LightningModule):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU()) for _ in range(12)])

        def training_step(self, batch, _):
            x = batch[0]
            for layer in self.layers:
                x = layer(x)
                self.note(x)
            return (x ** 2).mean()

        def note(self, x):
            for row in x[:8]:
                if mended:
                    self.last = row.abs().max()
                else:
                    self.last = row.abs().max().item()  # slow: lightning

        def configure_optimizers(self):
            return torch.optim.AdamW(self.parameters())

    data = torch.utils.data.TensorDataset(torch.randn(200_000, 1024))
    loader = torch.utils.data.DataLoader(data, batch_size=2048, num_workers=4, persistent_workers=True, pin_memory=True)
    package.Trainer(accelerator="gpu", devices=1, max_epochs=1000, logger=False, enable_checkpointing=False, enable_progress_bar=False).fit(Network(), loader)


def gpytorch_fit(clock, _):
    """A small exact Gaussian process: many small kernels. What mends it is another program."""
    import gpytorch
    import torch
    each_optimizer_step(clock)

    class Model(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module, self.covar_module = gpytorch.means.ConstantMean(), gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    x = torch.linspace(0, 1, 200).cuda()
    y = torch.sin(6 * x) + 0.1 * torch.randn_like(x)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().cuda()
    model = Model(x, y, likelihood).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    while True:
        optimizer.zero_grad()
        (-marginal(model(x), y)).backward()
        optimizer.step()


PROGRAMS = {"jax": jax_loop, "flax": flax_loop, "geometric": geometric, "trainer": trainer, "lightning": lightning_fit, "gpytorch": gpytorch_fit}
COMPUTE = ("compute_bound", "inefficient_gemm", "low_precision_unused", "memory_bound", "unfused_attention", "throttled")


# The cases: labels of which one is right; where the verdict has to point, a mark in this file, or the name of a function; the commands.

class Case:
    def __init__(self, labels, place, as_is, mended=None, prepare=None, missing=""):
        self.labels, self.place, self.as_is, self.mended, self.prepare, self.missing = labels, place, as_is, mended, prepare, missing


def own(name, labels, place=None, has_truth=True, seconds=SECONDS):
    command = [sys.executable, str(SELF), "program", name, str(seconds)]
    return Case(labels, place, [*command, "as-is"], [*command, "mended"] if has_truth else None)


def script(path, arguments, mended, labels, prepare=None, place=None, seconds=SECONDS):
    command = [sys.executable, str(SELF), "run", str(seconds), str(path)]
    there = path is not None and path.is_file()
    return Case(labels, place, [*command, *arguments], [*command, *mended] if mended else None, prepare, "" if there else "no checkout was given")


def prepare_nanogpt(checkout):
    return lambda folder: prepare_tokens(checkout, folder)


def prepare_tokens(checkout, folder):
    """What its train.py looks for where it is started."""
    import pickle
    shutil.copy(checkout / "configurator.py", folder)
    data = folder / "data" / "made_up"
    data.mkdir(parents=True, exist_ok=True)
    made = random.Random(3)
    for name in ("train.bin", "val.bin"):
        (data / name).write_bytes(b"".join(made.randrange(512).to_bytes(2, sys.byteorder) for _ in range(100_000)))
    (data / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 512}))


def prepare_photos(folder):
    import numpy
    from PIL import Image
    numbers = numpy.random.default_rng(1)
    for split, count in (("train", 150), ("validation", 8)):
        for label in range(4):
            target = folder / "images" / split / f"class{label}"
            target.mkdir(parents=True, exist_ok=True)
            for number in range(count):
                coarse = Image.fromarray(numbers.integers(0, 256, (60, 80, 3), dtype="uint8"))
                coarse.resize((640, 480)).save(target / f"{number}.jpg", quality=90)


def plain_cuda(out):
    nvcc = next((path for path in (shutil.which("nvcc"), *sorted(glob.glob("/usr/local/cuda*/bin/nvcc"), reverse=True)) if path), None)
    program = out / "sync_loop"
    if nvcc is None or subprocess.run([nvcc, "-O2", "-o", str(program), str(SELF.parent / "sync_loop.cu")]).returncode != 0:
        return Case((), None, [], missing="no nvcc that compiles")
    return Case(("sync_bound",), None, [str(program), str(SECONDS), "as-is"], [str(program), str(SECONDS), "mended"])


def cases(options):
    nanogpt, timm, examples = ((folder / name if folder else None) for folder, name in
                               ((options.nanogpt, "train.py"), (options.timm, "train.py"), (options.examples, "dcgan/main.py")))
    sizes = ["--dataset=made_up", "--n_layer=6", "--n_head=6", "--n_embd=384", "--block_size=256", "--batch_size=8", "--gradient_accumulation_steps=1",
             "--dropout=0.0", "--max_iters=100000", "--eval_interval=100000", "--eval_iters=1", "--device=cuda"]
    photos = ["--data-dir", "images", "--model", "resnet18", "--num-classes", "4", "-b", "32", "--epochs", "100", "--output", "output", "--amp"]
    fake = ["--dataset", "fake", "--accel", "--niter", "1000", "--batchSize", "64"]
    short, of_host = SECONDS_OF_SHORT_STEPS, ("launch_bound", "host_code")
    tokens, compiled = prepare_nanogpt(options.nanogpt), [*sizes, "--compile=True"]
    return {
        "jax": own("jax", ("host_code",), "jax", seconds=short),
        "flax": own("flax", COMPUTE, has_truth=False, seconds=short),
        "geometric": own("geometric", ("dataloader", "host_code"), "geometric"),
        "trainer": own("trainer", ("dataloader",), "trainer"),
        # Both cause it: each of 96 values takes small kernels and a wait. The mend takes the waits away.
        "lightning": own("lightning", ("sync_bound", "launch_bound"), "lightning", seconds=short),
        "gpytorch": own("gpytorch", of_host, has_truth=False, seconds=short),
        # The mend fuses and launches the rest as before: the verdict tells what is saved where the host holds up nothing any more.
        "nanogpt": script(nanogpt, [*sizes, "--compile=False"], compiled, of_host, tokens, seconds=short),
        "nanogpt compiled": script(nanogpt, [*compiled, "--batch_size=64"], None, (*COMPUTE, *of_host), tokens, seconds=short),
        "timm": script(timm, [*photos, "--workers", "1"], [*photos, "--workers", "12"], ("dataloader",), prepare_photos),
        "dcgan": script(examples, [*fake, "--workers", "1"], [*fake, "--workers", "12"], ("dataloader",)),
        "plain cuda": plain_cuda(options.out),
    }


def run_case(options, name, case, arm):
    folder = options.out / name.replace(" ", "_")
    folder.mkdir(parents=True, exist_ok=True)
    recording = options.out / f"{folder.name}.db"
    environment = os.environ | {"TRANSFORMERS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    if arm == "recorded":
        for old in options.out.glob(f"{folder.name}*.db"):
            old.unlink()
        environment |= {"LD_PRELOAD": str(options.library), "TRACEINJECT_OUTPUT": str(recording)}
    command = case.mended if arm == "mended" else case.as_is
    ran = subprocess.run(command, cwd=folder, env=environment, timeout=LIMIT_S, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    (options.out / f"{folder.name}.{arm}.log").write_text(ran.stdout + ran.stderr)
    told = [line.split()[1] for line in ran.stdout.splitlines() if line.startswith("step_ms ")]
    if not told:
        raise subprocess.SubprocessError(f"{name}, {arm}: exit code {ran.returncode}: {ran.stderr[-300:]}")
    return float(told[-1]), recording


def marked_line(mark):
    return 1 + next(i for i, line in enumerate(SELF.read_text().splitlines()) if line.endswith(f"# slow: {mark}"))


def judge(checks, name, case, report, times, seconds):
    """`times`: milliseconds a step of each run of an arm; `seconds`: that all of this took."""
    verdict = report["verdict"]
    label, places = verdict.get("label", ""), [one.get("place", "") for one in verdict.get("code", [])]
    checks.add(f"{name}: label", label in case.labels, f"{label or 'none'}; right: {', '.join(case.labels)}")
    if case.place:
        wanted = f"{SELF.name}:{marked_line(case.place)}"
        checks.add(f"{name}: line", any(place.startswith(wanted) for place in places[:3]), f"{places[:3]}, {wanted} expected among them")
    saved = float(verdict.get("saved_ns", 0)) / 1e6
    as_is = sum(times["as-is"]) / len(times["as-is"])
    spread = (max(times["as-is"]) - min(times["as-is"])) / as_is
    row = {"label": label, "place": places[:1], "step_ms": times, "as_is_spread": spread, "saved_ms": saved,
           "interval_ms": [float(verdict.get(key, 0)) / 1e6 for key in ("saved_low_ns", "saved_high_ns")], "seconds": seconds}
    truth = ""
    if "mended" in times:
        # Of the recorded process, whose host may be slower or faster than that of the others.
        row["truth_ms"] = times["recorded"][0] * (1 - times["mended"][0] / as_is)
        truth = f", mended {times['mended'][0]:.2f}: {row['truth_ms']:.2f} ms saved"
    apart = f" ({spread:.0%} apart in {len(times['as-is'])} runs)" if len(times["as-is"]) > 1 else ""
    checks.note(f"{name}: times", f"step {as_is:.2f} ms{apart}, recorded {times['recorded'][0]:.2f}{truth}; predicted {saved:.2f} ms "
                f"({row['interval_ms'][0]:.2f} to {row['interval_ms'][1]:.2f}); {seconds:.0f} s")
    return row


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / "checks.jsonl"
    log.write_text("")
    checks, table = Checks(log, "others"), {}
    for name, case in cases(options).items():
        if options.program and name not in options.program:
            continue
        if case.missing:
            checks.skip(name, case.missing)
            continue
        try:
            folder = options.out / name.replace(" ", "_")
            folder.mkdir(exist_ok=True)
            if case.prepare:
                case.prepare(folder)
            times, began = {}, time.perf_counter()
            for arm in ("as-is", "recorded", *(("as-is", "mended") if case.mended else ())):
                step_ms, recording = run_case(options, name, case, arm)
                times.setdefault(arm, []).append(step_ms)
            told = subprocess.run([options.analyze, str(recording), "--format", "json"], check=True, timeout=LIMIT_S, capture_output=True, text=True)
            recording.with_suffix(".report.json").write_text(told.stdout)
            table[name] = judge(checks, name, case, json.loads(told.stdout), times, time.perf_counter() - began)
        except (OSError, subprocess.SubprocessError) as error:
            checks.add(f"{name}: runs", False, f"{error} {getattr(error, 'stderr', '') or ''}"[-500:])
        (options.out / "table.json").write_text(json.dumps(table, indent=1))
    return summary(log, options.out / "results.json")


def main():
    parser, commands, checking = command_line(__doc__, "analyze")
    for name in ("nanogpt", "timm", "examples"):
        checking.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).resolve(), metavar="FOLDER")
    checking.add_argument("--program", action="append", help="may be repeated (default: all)")
    running = commands.add_parser("run")
    running.add_argument("seconds", type=float)
    running.add_argument("script")
    running.add_argument("arguments", nargs=argparse.REMAINDER)
    program = commands.add_parser("program")
    program.add_argument("name", choices=PROGRAMS)
    program.add_argument("seconds", type=float)
    program.add_argument("arm", choices=["as-is", "mended"])
    options = parser.parse_args()
    if options.command == "run":
        return run(options.seconds, options.script, options.arguments)
    if options.command == "program":
        return PROGRAMS[options.name](Clock(options.seconds), options.arm == "mended")
    return check(options)


if __name__ == "__main__":
    sys.exit(main())
