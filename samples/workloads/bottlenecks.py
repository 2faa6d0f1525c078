#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains small models on synthetic data with one planted bottleneck at a time, and prints what the bottleneck costs.

Each cause has a knob; 0 is off. Blocks of steps with the knob at 0 and at its value run in turn in one process (--schedule), each
after a few steps that are not timed, so the difference of their step times is what removing the cause would save:

  what each cause costs     python3 bottlenecks.py
  one cause, to be recorded python3 bottlenecks.py --cause sync --schedule on --steps 60
  stronger                  python3 bottlenecks.py --cause gc --knob 3000

One line of JSON a cause is printed: step times are wall-clock milliseconds a step, with a synchronisation before and after each
block and none in between that is not planted. "Off" does the same work without the fault: the batch is there but its decoding is
not; the copy comes from pinned memory; the statistics stay on the GPU; nothing is saved, freed or collected. The program that is
bound by launches is, when off, the very same step captured into a CUDA graph: its saving is the cost of launching one by one.
"""

import argparse
import contextlib
import gc
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
import traceback
import zlib

import torch
import torch.nn.functional as functional
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from transformer import SyntheticTokens, Transformer  # noqa: E402

SEED = 1234
# About 25 ms a step on an H100 or H200, of which the host needs 10 ms to launch it: a delay of the host costs only what exceeds
# the 15 ms by which it runs ahead. The knobs are set for that.
LAYERS, WIDTH, HEADS, SEQUENCE, BATCH, VOCABULARY = 12, 1536, 12, 1024, 4, 32768
CHAIN_LAYERS = 150
IMAGES, IMAGE_SIZE, CLASSES = 256, 192, 1000
CHECKPOINT_BYTES = 192 << 20


class SlowTokens(SyntheticTokens):
    """Samples that take time: `busy_ms` of computing (decompression), then `sleep_ms` of waiting, as for a disk or a network."""

    def __init__(self, samples, busy_ms=0.0, sleep_ms=0.0):
        super().__init__(samples, SEQUENCE, VOCABULARY, SEED)
        self.busy_ms, self.sleep_ms = busy_ms, sleep_ms
        self.packed = zlib.compress(bytes(range(256)) * 256)

    def __getitem__(self, index):
        if self.busy_ms:
            until = time.perf_counter() + self.busy_ms / 1e3
            while time.perf_counter() < until:
                zlib.decompress(self.packed)
        if self.sleep_ms:
            time.sleep(self.sleep_ms / 1e3)
        return super().__getitem__(index)


class InMemoryBatches(torch.utils.data.Dataset):
    """Whole batches that are ready in memory and take no time to make."""

    def __init__(self, count, batches):
        self.count, self.batches = count, batches

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return self.batches[index % len(self.batches)]


class TransformerJob:
    """The transformer of transformer.py, bfloat16 by autocast, fused AdamW: keeps the GPU busy."""

    def __init__(self, device, options):
        self.device = device
        torch.manual_seed(SEED)
        with device:
            self.model = Transformer(LAYERS, WIDTH, HEADS, SEQUENCE, VOCABULARY)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self.loss = None

    def loader(self, steps, workers=0, context=None, **cost):
        data = SlowTokens(steps * BATCH, **cost)
        return torch.utils.data.DataLoader(data, batch_size=BATCH, num_workers=workers, pin_memory=True,
                                           multiprocessing_context=context if workers else None)

    def step(self, batch, planted):
        self.train(batch.to(self.device, non_blocking=True))

    def train(self, tokens):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self.model(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()


class ElementwiseChain(nn.Module):
    """Layers of elementwise operations on a few thousand numbers: kernels of a microsecond or two."""

    def __init__(self, layers, width):
        super().__init__()
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(width)) for _ in range(layers))
        self.shifts = nn.ParameterList(nn.Parameter(torch.zeros(width)) for _ in range(layers))

    def forward(self, x):
        for scale, shift in zip(self.scales, self.shifts):
            x = x + 0.01 * torch.tanh(x * scale + shift)
        return x.square().mean()


class ChainJob:
    """Thousands of small kernels a step: launched one by one when planted, else replayed from a CUDA graph of the same step."""

    def __init__(self, device, options):
        self.device = device
        torch.manual_seed(SEED)
        with device:
            self.model = ElementwiseChain(int(options.knob or CHAIN_LAYERS), SEQUENCE + 1)
        # Plain SGD has no host-side decisions, so that its step can be captured.
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9, foreach=False)
        self.tokens = torch.zeros(BATCH, SEQUENCE + 1, dtype=torch.int64, device=device)
        self.loss = None
        self.graph = self.capture() if "off" in options.schedule else None

    loader = TransformerJob.loader

    def train(self):
        loss = self.model(self.tokens.float() / VOCABULARY)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()

    def capture(self):
        # As PyTorch's documentation captures a whole step: warm-up on a stream beside, then the capture on it.
        side = torch.cuda.Stream(self.device)
        side.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(side):
            for _ in range(3):
                self.train()
        torch.cuda.current_stream(self.device).wait_stream(side)
        torch.cuda.synchronize(self.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
            self.train()
        return graph

    def step(self, batch, planted):
        self.tokens.copy_(batch, non_blocking=True)
        if planted:
            self.train()
        else:
            self.graph.replay()


class Residual(nn.Module):
    """Two 3x3 convolutions with a shortcut."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if stride > 1 or inputs != outputs else nn.Identity()

    def forward(self, x):
        y = functional.relu(self.first_norm(self.first(x)))
        return functional.relu(self.second_norm(self.second(y)) + self.shortcut(x))


def conv_net():
    """About ResNet-18."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    width = 64
    for stage in range(4):
        outputs = 64 << stage
        layers += [Residual(width, outputs, 1 if stage == 0 else 2), Residual(outputs, outputs, 1)]
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, CLASSES))


class ConvJob:
    """A residual network on images that are ready in pinned memory."""

    def __init__(self, device, options):
        self.device = device
        torch.manual_seed(SEED)
        torch.backends.cudnn.benchmark = True
        self.model = conv_net().to(device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        images = torch.randint(0, 256, (IMAGES, 3, IMAGE_SIZE, IMAGE_SIZE), dtype=torch.uint8).pin_memory()
        self.batches = [(images, torch.randint(0, CLASSES, (IMAGES,)).pin_memory())]
        self.loss = None

    def loader(self, steps):
        return torch.utils.data.DataLoader(InMemoryBatches(steps, self.batches), batch_size=None)

    def step(self, batch, planted):
        images, labels = (tensor.to(self.device, non_blocking=True) for tensor in batch)
        images = images.to(torch.bfloat16, memory_format=torch.channels_last).div_(255)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = functional.cross_entropy(self.model(images).float(), labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()


class Cause:
    """One planted bottleneck. `knob` is 0 in blocks that are off."""

    label = "compute_bound"  # what a report on the planted run must say
    unit = ""                # of the knob
    knob = 0                 # the default strength; 0: a control, with nothing planted
    job = TransformerJob
    least_period = 1         # a block is a multiple of so many steps

    def __init__(self, options):
        self.options = options

    def loader(self, job, knob, steps):
        return job.loader(steps)

    def start(self, job, knob):
        """Before the first step of a block."""

    def step(self, job, knob, batch):
        job.step(batch, planted=knob > 0)

    def after_step(self, job, knob, index):
        """`index` counts from 0; negative while a block settles."""

    def stop(self, job):
        """After the last step of a block; also when it failed."""


class DataLoaderCpu(Cause):
    """Samples are decoded by the training process itself."""
    label, unit, knob = "dataloader", "ms of decoding a batch", 40
    workers = 0

    def cost(self, knob):
        return {"busy_ms": knob / BATCH}

    def loader(self, job, knob, steps):
        workers = self.workers if self.options.workers is None else self.options.workers
        return job.loader(steps, workers=workers, context=self.options.start_method, **self.cost(knob))


class DataLoaderSleep(DataLoaderCpu):
    """Two workers wait for slow storage. Both deliver at the same time, so only every other step waits, twice as long."""
    unit, knob = "ms of waiting a batch, in 2 workers", 100
    workers = 2

    def cost(self, knob):
        return {"sleep_ms": knob / BATCH}


class PageableCopy(Cause):
    """A large batch is copied from pageable memory, blocking; off: from pinned memory, asynchronously."""
    label, unit, knob = "h2d_copy", "MB a batch", 256

    def __init__(self, options):
        super().__init__(options)
        self.batches = {}
        self.touched = None

    def loader(self, job, knob, steps):
        pinned = knob == 0
        if pinned not in self.batches:
            self.batches[pinned] = self.make_batches(pinned)
        # What lies in pinned memory already is not pinned again by the loader.
        return torch.utils.data.DataLoader(InMemoryBatches(steps, self.batches[pinned]), batch_size=None, pin_memory=pinned)

    def make_batches(self, pinned):
        tokens = torch.randint(0, VOCABULARY, (BATCH, SEQUENCE + 1), generator=torch.Generator().manual_seed(SEED)).pin_memory()
        megabytes = int(self.options.knob or self.knob)
        features = [torch.full((megabytes << 18,), 0.5, dtype=torch.float32) for _ in range(2)]
        return [(tokens, feature.pin_memory() if pinned else feature) for feature in features]

    def step(self, job, knob, batch):
        tokens, features = batch
        self.touched = features.to(job.device, non_blocking=knob == 0).sum()
        job.step(tokens, planted=knob > 0)


class SyncPerLayer(Cause):
    """Statistics of every layer's output are logged, each number fetched by `.item()`; off: they stay on the GPU."""
    label, unit, knob = "sync_bound", ".item() calls a layer", 64

    def __init__(self, options):
        super().__init__(options)
        self.hooks, self.log = [], []
        self.count = int(options.knob or self.knob)

    def start(self, job, knob):
        def log_statistics(module, arguments, output):
            largest = output.detach().abs().amax(dim=(0, 1))[:self.count]
            self.log.append([value.item() for value in largest] if knob else largest)

        self.hooks = [block.register_forward_hook(log_statistics) for block in job.model.blocks]

    def after_step(self, job, knob, index):
        self.log.clear()

    def stop(self, job):
        for hook in self.hooks:
            hook.remove()
        self.hooks = []


class EmptyCache(Cause):
    """The allocator gives all memory back to the driver after each step and asks for it again in the next."""
    label, unit, knob = "allocator", "empty_cache() a step", 1

    def after_step(self, job, knob, index):
        for _ in range(int(knob)):
            torch.cuda.empty_cache()


class Checkpoint(Cause):
    """`torch.save` of a part of the weights every so many steps."""
    label, unit, knob = "checkpoint", "steps between checkpoints of 192 MB", 10
    least_period = 10
    folder = None

    def start(self, job, knob):
        self.folder = tempfile.mkdtemp(prefix="bottlenecks-") if knob else None

    def after_step(self, job, knob, index):
        if knob and (index + 1) % int(knob) == 0:
            torch.save({"step": index, "model": self.part(job.model)}, os.path.join(self.folder, "checkpoint.pt"))

    @staticmethod
    def part(model):
        state, size = {}, 0
        for name, tensor in model.state_dict().items():
            if size + tensor.numel() * tensor.element_size() <= CHECKPOINT_BYTES:
                state[name] = tensor
                size += tensor.numel() * tensor.element_size()
        return state

    def stop(self, job):
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None


class GarbageCollection(Cause):
    """`gc.collect()` after each step, in a process that holds many objects."""
    label, unit, knob = "gc_pause", "thousand objects alive", 1500
    objects = None

    def start(self, job, knob):
        if not knob:
            return
        gc.collect()
        gc.freeze()  # what imports left behind is not looked at again, so that the knob alone sets the time
        gc.disable()
        self.objects = [[None] for _ in range(int(knob * 1000))]
        gc.enable()
        gc.collect()  # moves them to the oldest generation

    def after_step(self, job, knob, index):
        if knob:
            gc.collect()

    def stop(self, job):
        self.objects = None
        gc.unfreeze()


class SmallKernels(Cause):
    """Thousands of small kernels, launched one by one; off: one launch of a CUDA graph."""
    label, unit, knob = "launch_bound", "layers of small kernels", CHAIN_LAYERS
    job = ChainJob


class TransformerControl(Cause):
    """Nothing planted; matrix products."""


class ConvControl(Cause):
    """Nothing planted; convolutions."""
    job = ConvJob


CAUSES = {
    "dataloader_cpu": DataLoaderCpu, "dataloader_sleep": DataLoaderSleep, "h2d_copy": PageableCopy, "sync": SyncPerLayer,
    "allocator": EmptyCache, "checkpoint": Checkpoint, "gc": GarbageCollection, "launch": SmallKernels,
    "transformer": TransformerControl, "conv": ConvControl,
}


class Counts:
    """What the whole run of a cause did, to hold a recording against."""

    def __init__(self):
        self.batches = self.steps = 0
        self.data_wait_ms = 0.0

    def next(self, batches):
        began = time.perf_counter()
        batch = next(batches)
        self.data_wait_ms += (time.perf_counter() - began) * 1e3
        self.batches += 1
        return batch


def run_block(cause, job, knob, options, counts):
    """Milliseconds a step."""
    batches = iter(cause.loader(job, knob, options.settle + options.steps))
    began = None
    cause.start(job, knob)
    try:
        for index in range(-options.settle, options.steps):
            if index == 0:
                torch.cuda.synchronize(job.device)
                began = time.perf_counter()
            with torch.cuda.nvtx.range(f"step {index + options.settle}") if options.nvtx else contextlib.nullcontext():
                cause.step(job, knob, counts.next(batches))
                cause.after_step(job, knob, index)
            counts.steps += 1
        torch.cuda.synchronize(job.device)
        return (time.perf_counter() - began) * 1e3 / options.steps
    finally:
        cause.stop(job)


def run_cause(name, options, jobs, device):
    cause = CAUSES[name](options)
    control = CAUSES[name].knob == 0
    if cause.job not in jobs:
        jobs[cause.job] = cause.job(device, options)
    job, counts, step_ms = jobs[cause.job], Counts(), {"off": [], "on": []}
    knob = 0 if control else options.knob or cause.knob
    schedule = [state for state in options.schedule if not (control and state == "off")]
    for state in schedule * options.rounds:
        step_ms[state].append(run_block(cause, job, knob if state == "on" else 0, options, counts))
    return {
        "cause": name, "label": cause.label, "control": control, "knob": knob, "unit": cause.unit,
        "step_ms_off": statistics.mean(step_ms["off"]) if step_ms["off"] else None,
        "step_ms_on": statistics.mean(step_ms["on"]) if step_ms["on"] else None,
        "blocks_off": step_ms["off"], "blocks_on": step_ms["on"], "steps": options.steps, "settle": options.settle,
        "total_steps": counts.steps, "total_batches": counts.batches, "data_wait_ms": counts.data_wait_ms,
        "loss": float(job.loss), "gpu": torch.cuda.get_device_name(device), "torch": torch.__version__,
    }


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cause", action="append", choices=CAUSES, help="may be repeated (default: all)")
    parser.add_argument("--schedule", default="off,on", help="blocks of a round: off, on, or both in any order (default: off,on)")
    parser.add_argument("--rounds", type=int, default=1, help="how often the schedule runs (default: 1)")
    parser.add_argument("--steps", type=int, default=20, help="timed steps of a block (default: 20)")
    parser.add_argument("--settle", type=int, default=6, help="steps before them (default: 6)")
    parser.add_argument("--knob", type=float, help="strength, in the unit of the cause; needs one --cause (default: the cause's)")
    parser.add_argument("--workers", type=int, help="of the data loader causes (default: 0 or 2, by cause)")
    parser.add_argument("--start-method", choices=["fork", "spawn"], help="of data loader workers (default: Python's)")
    parser.add_argument("--nvtx", action="store_true", help='push an NVTX range "step N" around every step')
    parser.add_argument("--list", action="store_true", help="print the causes and leave")
    options = parser.parse_args()
    options.cause = options.cause or list(CAUSES)
    options.schedule = options.schedule.split(",")
    if not set(options.schedule) <= {"off", "on"}:
        parser.error("--schedule takes off and on, separated by commas")
    if options.knob is not None and (len(options.cause) != 1 or options.knob <= 0):
        parser.error("--knob takes a number above 0 and one --cause; --schedule off runs with nothing planted")
    if options.rounds < 1 or options.steps < 1 or options.settle < 1:
        parser.error("--rounds, --steps and --settle must be at least 1")
    for name in options.cause:
        if options.steps % CAUSES[name].least_period:
            parser.error(f"--steps must be a multiple of {CAUSES[name].least_period} for {name}")
    return options


def main():
    options = parse_options()
    if options.list:
        for name, cause in CAUSES.items():
            print(f"{name:17} {cause.label:14} {f'{cause.knob} {cause.unit}' if cause.knob else 'control'}: {cause.__doc__}")
        return 0
    if not torch.cuda.is_available():
        sys.exit("bottlenecks.py: needs a CUDA device")
    device, jobs, failed = torch.device("cuda", 0), {}, 0
    torch.cuda.set_device(device)
    for name in options.cause:
        try:
            result = run_cause(name, options, jobs, device)
        except Exception as error:  # the others are still worth running
            traceback.print_exc()
            result = {"cause": name, "error": f"{type(error).__name__}: {error}"}
            failed += 1
        print(json.dumps(result), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
