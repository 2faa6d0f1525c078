#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small decoder-only transformer on synthetic tokens and prints one line of JSON with the step times.

Two presets: `compute` keeps the GPU busy (about 700 kernels and 30-40 ms a step on an H100 or H200), `launch-bound` gives it
thousands of kernels of a few microseconds, so that the host cannot launch them fast enough. The program is deterministic: two
runs with the same options launch the same kernels, copies and collectives in every step, which makes it a yardstick for
anything that counts them.

  one GPU          python3 transformer.py
  compiled         python3 transformer.py --compile
  data parallel    torchrun --nproc-per-node 2 transformer.py --ddp
  sharded          torchrun --nproc-per-node 2 transformer.py --fsdp
  two GPUs at once python3 transformer.py --devices 2

Step times are wall-clock times around blocks of steps, with a synchronisation before and after each block and none in between.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as functional
from torch import nn

# Sizes, and how the optimizer walks the parameters: `fused` updates many in one kernel, `single` takes about eight kernels each.
PRESETS = {
    "compute": dict(layers=16, width=1536, heads=12, sequence=1024, batch=4, vocabulary=32768, optimizer="fused"),
    "launch-bound": dict(layers=24, width=256, heads=4, sequence=128, batch=2, vocabulary=1024, optimizer="single"),
}
GRAPH_WARMUP = 3  # steps before a capture, as PyTorch's documentation asks
PEER_COPY_BYTES = 16 << 20
# Steps between warm-up and measurement that settle a profiler; run without a profiler too, so that all runs do the same work.
SETTLE_STEPS = 2


def flops_by_operator(forward):
    """FLOPs of a forward and a backward pass. `forward` is no compiled function: the counter sees operators of eager PyTorch only."""
    from torch.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter:
        forward().backward()
    return {str(operator).rpartition(".")[2]: flops for operator, flops in counter.get_flop_counts()["Global"].items()}


def capture_step(step, device):
    """A CUDA graph of one step, as PyTorch's documentation captures a whole one: warm-up on a stream beside, then the capture on it."""
    side = torch.cuda.Stream(device)
    side.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(side):
        for _ in range(GRAPH_WARMUP):
            step()
    torch.cuda.current_stream(device).wait_stream(side)
    torch.cuda.synchronize(device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
        step()
    return graph


class StepEnds:
    """When steps end: on the GPU, by events that cost the host next to nothing and the GPU nothing; else by the host's clock."""

    def __init__(self, device):
        self.on_gpu, self.ends = device.type == "cuda", []

    def mark(self):
        end = torch.cuda.Event(enable_timing=True) if self.on_gpu else time.perf_counter()
        if self.on_gpu:
            end.record()
        self.ends.append(end)

    def lengths_ms(self):
        pairs = zip(self.ends, self.ends[1:])
        return [a.elapsed_time(b) if self.on_gpu else (b - a) * 1e3 for a, b in pairs]


def timed_steps(step, warmup, steps, device):
    """Runs steps without a synchronisation in between, and tells what a report on them can be held against."""
    synchronise = torch.cuda.synchronize if device.type == "cuda" else lambda device: None
    for _ in range(warmup):
        step()
    synchronise(device)
    ends, begin_unix_ns, began = StepEnds(device), time.time_ns(), time.perf_counter()
    ends.mark()
    for _ in range(steps):
        step()
        ends.mark()
    synchronise(device)
    seconds, end_unix_ns = time.perf_counter() - began, time.time_ns()
    step_ms = ends.lengths_ms()
    return {"warmup": warmup, "steps": steps, "seconds": seconds, "begin_unix_ns": begin_unix_ns, "end_unix_ns": end_unix_ns,
            "step_ms": step_ms, "median_step_ms": statistics.median(step_ms)}


class Block(nn.Module):
    """Pre-norm attention and feed-forward layer."""

    def __init__(self, width, heads, causal=True):
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.norm_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm_mlp = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        batch, sequence, width = x.shape
        qkv = self.qkv(self.norm_attention(x)).view(batch, sequence, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        attended = self.attend(query, key, value)
        x = x + self.project(attended.transpose(1, 2).reshape(batch, sequence, width))
        return x + self.down(self.activate(self.up(self.norm_mlp(x))))

    def attend(self, query, key, value):
        return functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)

    def activate(self, x):
        return functional.gelu(x)


class Transformer(nn.Module):
    def __init__(self, layers, width, heads, sequence, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.randn(sequence, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x)).float()
        return functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


class SyntheticTokens(torch.utils.data.Dataset):
    """Sample i is a function of the seed and i alone, whatever worker makes it."""

    def __init__(self, samples, sequence, vocabulary, seed):
        self.samples, self.sequence, self.vocabulary, self.seed = samples, sequence, vocabulary, seed

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(self.seed + index)
        return torch.randint(0, self.vocabulary, (self.sequence + 1,), generator=generator)


class IssuedCollectives:
    """What this rank asked NCCL to do in each measured step: a log to hold a recording against."""

    def __init__(self):
        self.steps = {}
        self.current = None

    def begin_step(self, index):
        self.current = self.steps.setdefault(index, [])

    def end_step(self):
        self.current = None

    def add(self, function, tensor):
        if self.current is not None:
            self.current.append({"function": function, "bytes": tensor.numel() * tensor.element_size()})

    def write(self, path, rank):
        steps = [{"step": index, "collectives": issued} for index, issued in sorted(self.steps.items())]
        with open(path, "w") as file:
            json.dump({"rank": rank, "steps": steps}, file)


def make_model(options, device):
    torch.manual_seed(options.seed)
    with device:  # weights made on the GPU: half a billion random numbers take seconds on one CPU core
        model = Transformer(options.layers, options.width, options.heads, options.sequence, options.vocabulary)
    return model if options.precision == "autocast" else model.to(torch.bfloat16)


class Replica:
    """A model with its optimizer on one device."""

    def __init__(self, options, device, issued):
        self.device = device
        self.autocast = options.precision == "autocast"
        self.model = make_model(options, device)
        self.parameters = sum(p.numel() for p in self.model.parameters())
        self.module = self.model
        if options.compile:
            self.module = torch.compile(self.model)
        if options.ddp:
            self.replicate(issued, options.bucket_mb)
        if options.fsdp:
            self.shard()
        how = {"fused": dict(fused=True), "foreach": dict(foreach=True), "single": dict(foreach=False)}
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-4, **how[options.optimizer])
        self.loss = None

    def shard(self):
        """Each block gathers its parameters by itself, which overlaps with the block before."""
        try:
            from torch.distributed.fsdp import fully_shard
        except ImportError:  # before PyTorch 2.6
            from torch.distributed.fsdp import FullyShardedDataParallel
            from torch.distributed.fsdp.wrap import ModuleWrapPolicy
            self.module = FullyShardedDataParallel(self.model, auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=self.device,
                                                   use_orig_params=True)
            return
        for block in self.model.blocks:
            fully_shard(block)
        fully_shard(self.model)

    def replicate(self, issued, bucket_mb):
        # Parameters only, no buffers, so that the hook sees every collective of a step.
        self.module = nn.parallel.DistributedDataParallel(self.model, device_ids=[self.device.index], broadcast_buffers=False,
                                                          **({"bucket_cap_mb": bucket_mb} if bucket_mb else {}))
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        def count_then_all_reduce(group, bucket):
            issued.add("AllReduce", bucket.buffer())
            return default_hooks.allreduce_hook(group, bucket)

        self.module.register_comm_hook(dist.group.WORLD, count_then_all_reduce)

    def forward(self, batch):
        batch = batch.to(self.device, non_blocking=True)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.autocast):
            self.loss = self.module(batch[:, :-1], batch[:, 1:])

    def backward(self):
        self.loss.backward()

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


class Trainer:
    def __init__(self, options):
        self.options = options
        self.issued = IssuedCollectives()
        self.rank = int(os.environ.get("RANK", "0")) if options.distributed else 0
        first = int(os.environ.get("LOCAL_RANK", "0")) if options.distributed else 0
        torch.cuda.set_device(first)
        if options.distributed:
            dist.init_process_group("nccl", device_id=torch.device("cuda", first))
        self.replicas = [Replica(options, torch.device("cuda", first + i), self.issued) for i in range(options.devices)]
        self.peer = self.make_peer_buffers()
        self.batches = iter(self.make_loader())

    def make_loader(self):
        options = self.options
        steps = options.warmup + SETTLE_STEPS + options.steps
        samples = steps * options.batch * options.devices
        data = SyntheticTokens(samples, options.sequence, options.vocabulary, options.seed + self.rank * samples)
        workers = dict(num_workers=options.workers, persistent_workers=True) if options.workers else {}
        return torch.utils.data.DataLoader(data, batch_size=options.batch, pin_memory=True, **workers)

    def make_peer_buffers(self):
        if self.options.devices < 2:
            return None
        return [torch.ones(PEER_COPY_BYTES, dtype=torch.uint8, device=replica.device) for replica in self.replicas]

    def step(self):
        # Phase by phase over the replicas, so that one thread keeps launching on alternate devices.
        for replica in self.replicas:
            replica.forward(next(self.batches))
        for replica in self.replicas:
            replica.backward()
        for replica in self.replicas:
            replica.update()
        if self.peer:
            self.peer[1].copy_(self.peer[0], non_blocking=True)

    def marked_step(self, name):
        options = self.options
        if options.nvtx:
            torch.cuda.nvtx.range_push(name)
        if options.profiler:
            with torch.profiler.record_function(name):
                self.step()
        else:
            self.step()
        if options.nvtx:
            torch.cuda.nvtx.range_pop()

    def synchronise(self):
        for replica in self.replicas:
            torch.cuda.synchronize(replica.device)

    def measure(self):
        """Milliseconds a step, one value a block."""
        options, step_ms = self.options, []
        self.synchronise()
        for begin in range(0, options.steps, options.block):
            count = min(options.block, options.steps - begin)
            started = time.perf_counter()
            for index in range(begin, begin + count):
                self.issued.begin_step(index)
                self.marked_step(f"step {index}")
                self.issued.end_step()
            self.synchronise()
            step_ms.append((time.perf_counter() - started) * 1e3 / count)
        return step_ms

    def run(self):
        for index in range(self.options.warmup):
            self.marked_step(f"warmup {index}")
        self.synchronise()
        profiler = start_profiler(self.options)
        for index in range(SETTLE_STEPS):
            self.marked_step(f"settle {index}")
        return self.measure(), profiler

    def run_for_figures(self):
        options, device = self.options, self.replicas[0].device
        figures = timed_steps(self.step, options.warmup, options.steps, device)
        # A model of its own: one that is compiled or spread over GPUs is not counted as it is.
        model = make_model(options, device)
        tokens = torch.zeros(options.batch, options.sequence + 1, dtype=torch.int64, device=device)

        def forward():
            with torch.autocast("cuda", dtype=torch.bfloat16, enabled=options.precision == "autocast"):
                return model(tokens[:, :-1], tokens[:, 1:])

        return {**figures, "flops": flops_by_operator(forward)}

    def losses(self):
        return [replica.loss.item() for replica in self.replicas]


def start_profiler(options):
    if not options.profiler:
        return None
    activities = [torch.profiler.ProfilerActivity.CUDA]
    if options.profiler_activities == "cpu,cuda":
        activities.insert(0, torch.profiler.ProfilerActivity.CPU)
    profiler = torch.profiler.profile(activities=activities)
    profiler.start()
    return profiler


def with_rank(path, options, rank):
    """out.json -> out.rank1.json in a job of several processes."""
    if not options.distributed:
        return path
    stem, extension = os.path.splitext(path)
    return f"{stem}.rank{rank}{extension}"


def result_of(options, trainer, step_ms):
    return {
        "workload": "transformer", "preset": options.preset, "steps": options.steps,
        "median_step_ms": statistics.median(step_ms), "step_ms": step_ms, "block": options.block,
        "parameters": trainer.replicas[0].parameters,
        "tokens_per_step": options.batch * options.sequence * options.devices * (dist.get_world_size() if options.distributed else 1),
        "rank": trainer.rank, "devices": options.devices, "loss": trainer.losses(),
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
    }


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", choices=PRESETS, default="compute", help="sizes to start from (default: compute)")
    parser.add_argument("--steps", type=int, default=100, help="measured steps (default: 100)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before them (default: 10)")
    parser.add_argument("--block", type=int, default=20, help="steps timed together (default: 20)")
    parser.add_argument("--seed", type=int, default=1234, help="for weights and data (default: 1234)")
    parser.add_argument("--precision", choices=["autocast", "bf16"], default="autocast",
                        help="bfloat16 by autocast over float32 weights, or in the weights themselves (default: autocast)")
    parser.add_argument("--workers", type=int, default=2, help="processes that make data; 0: the training process (default: 2)")
    for name in ("layers", "width", "heads", "sequence", "batch", "vocabulary"):
        parser.add_argument(f"--{name}", type=int, help="overrides the preset")
    parser.add_argument("--optimizer", choices=["fused", "foreach", "single"], help="AdamW variant, overrides the preset")
    parser.add_argument("--ddp", action="store_true", help="DistributedDataParallel over NCCL; start with torchrun")
    parser.add_argument("--fsdp", action="store_true", help="parameters sharded over the GPUs, likewise")
    parser.add_argument("--compile", action="store_true", help="torch.compile the model")
    parser.add_argument("--bucket-mb", type=int, metavar="MB",
                        help="size of a gradient bucket under --ddp; one that holds all gradients leaves no communication "
                             "beside the backward pass (default: PyTorch's)")
    parser.add_argument("--devices", type=int, default=1, choices=[1, 2],
                        help="GPUs driven by this one process, a replica each, with a copy between them a step (default: 1)")
    parser.add_argument("--nvtx", action="store_true", help='push an NVTX range "step N" around every step')
    parser.add_argument("--issued", metavar="OUT.json", help="write the collectives that the measured steps issued")
    parser.add_argument("--profiler", metavar="OUT.json",
                        help='run under torch.profiler and export a Chrome trace; "-": collect, but leave without exporting')
    parser.add_argument("--profiler-activities", choices=["cuda", "cpu,cuda"], default="cpu,cuda",
                        help="what torch.profiler records; the steps are marked only with cpu (default: cpu,cuda)")
    parser.add_argument("--figures", action="store_true",
                        help="print what a report on the steps can be held against: their lengths on the GPU by CUDA events, their time on "
                             "the clock, and the FLOPs of one by torch.utils.flop_counter, counted after them")
    options = parser.parse_args()
    options.distributed = options.ddp or options.fsdp
    for name, value in PRESETS[options.preset].items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.ddp + options.fsdp + options.compile > 1:
        parser.error("--ddp, --fsdp and --compile exclude each other")
    if options.distributed and options.devices > 1:
        parser.error("--ddp and --fsdp drive one GPU a process: leave out --devices")
    if options.distributed and "RANK" not in os.environ:
        parser.error("--ddp and --fsdp need the variables that torchrun sets: torchrun --nproc-per-node 2 transformer.py --ddp")
    if options.issued and options.fsdp:
        parser.error("--issued knows what --ddp issues, not --fsdp")
    if options.figures and (options.profiler or options.nvtx or options.issued or options.devices > 1):
        parser.error("--figures is of bare steps on one GPU a process: leave out --profiler, --nvtx, --issued and --devices")
    if options.steps < 1 or options.warmup < 1 or options.block < 1:
        parser.error("--steps, --warmup and --block must be at least 1")
    return options


def main():
    options = parse_options()
    if torch.cuda.device_count() < options.devices:
        sys.exit(f"transformer.py: {options.devices} CUDA devices are needed, {torch.cuda.device_count()} can be seen")
    trainer = Trainer(options)
    if options.figures:
        figures, profiler = trainer.run_for_figures(), None
        result = {**result_of(options, trainer, figures["step_ms"]), **figures}
    else:
        step_ms, profiler = trainer.run()
        result = result_of(options, trainer, step_ms)
    if trainer.rank == 0:
        print(json.dumps(result), flush=True)
    if options.profiler == "-":
        os._exit(0)  # collecting the trace takes far longer than the steps, and the measurement is over
    if profiler:
        profiler.stop()
        profiler.export_chrome_trace(with_rank(options.profiler, options, trainer.rank))
    if options.issued:
        trainer.issued.write(with_rank(options.issued, options, trainer.rank), trainer.rank)
    if options.distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
