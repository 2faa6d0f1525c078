#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains small models on several GPUs with one planted fault between the ranks at a time, and prints what the fault costs.

One process a GPU, with the variables that torchrun sets. Blocks of steps without and with the fault run in turn in one process group
(--schedule), each after a few steps that are not timed, so the difference of their step times is what removing the fault would save:

  what each cause costs     torchrun --nproc-per-node 2 ranks.py
  one cause, to be recorded torchrun --nproc-per-node 2 ranks.py --cause straggler_sleep --schedule on --steps 30
  over a slow transport     NCCL_P2P_DISABLE=1 torchrun --nproc-per-node 2 ranks.py --cause communication --schedule on

Rank 0 prints one line of JSON a cause: step times are wall-clock milliseconds a step, from one barrier with a synchronisation to the
next and with none in between. "Off" is what `analyze ranks` plays: all ranks with the work of the usual one, the same work evenly
shared, half of the bubble. Without a GPU everything runs on the processor, tiny, to try the program itself.
"""

import argparse
import datetime
import gc
import json
import os
import random
import statistics
import sys
import time
import traceback

import torch
import torch.distributed as dist
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from transformer import Block, Transformer  # noqa: E402

SEED = 1234
TIMEOUT = datetime.timedelta(seconds=60)  # of an operation between ranks: a job that stands is not waited for


class Sizes:
    """About 25 ms a step on an H200, of which the host needs less than half to launch it."""

    def __init__(self, on_gpu):
        self.layers, self.width, self.heads, self.vocabulary = (6, 1024, 8, 8192) if on_gpu else (2, 32, 2, 64)
        self.batch, self.sequence = (16, 1024) if on_gpu else (4, 128)
        # Large gradients beside little computing, in few kernels: a slow host launches them in time.
        self.wide_layers, self.wide_width, self.wide_heads, self.small_batch = (2, 2048, 16, 8) if on_gpu else (1, 64, 2, 2)
        self.stage_layers = 4  # of an even pipeline, so wide that half a micro-batch takes half the time
        self.micro_batch = 8 if on_gpu else 2
        self.product = 4096 if on_gpu else 64  # rows and columns of a matrix in an extra product


class Machine:
    """This rank and its device."""

    def __init__(self):
        self.on_gpu = torch.cuda.is_available()
        local = int(os.environ.get("LOCAL_RANK", "0"))
        self.device = torch.device("cuda", local) if self.on_gpu else torch.device("cpu")
        if self.on_gpu:
            torch.cuda.set_device(self.device)
            # Without device_id: each pair of stages then has a communicator of its own, and its transfers wait for no others.
            dist.init_process_group("nccl", timeout=TIMEOUT)
        else:
            dist.init_process_group("gloo", timeout=TIMEOUT)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.sizes = Sizes(self.on_gpu)

    def meet(self):
        """All ranks have come, and all that they launched is done."""
        self.synchronise()
        dist.barrier(**(dict(device_ids=[self.device.index]) if self.on_gpu else {}))
        self.synchronise()

    def synchronise(self):
        if self.on_gpu:
            torch.cuda.synchronize(self.device)

    def optimizer(self, parameters):
        return torch.optim.AdamW(parameters, lr=1e-4, **(dict(fused=True) if self.on_gpu else {}))


class VariableLengths(Transformer):
    """Takes shorter sequences than its longest, too."""

    def forward(self, tokens, targets):
        x = self.tokens(tokens) + self.positions[:tokens.size(1)]
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x)).float()
        return nn.functional.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


class DataParallelJob:
    """A transformer on every rank: replicated (DistributedDataParallel), or its parameters sharded (fully_shard)."""

    def __init__(self, machine, options):
        self.machine, sizes = machine, machine.sizes
        torch.manual_seed(SEED)
        self.model = VariableLengths(*self.shape(sizes), sizes.sequence, sizes.vocabulary).to(machine.device)
        self.module = self.shard() if options.parallel == "fsdp" else self.replicate()
        self.optimizer = machine.optimizer(self.module.parameters())
        self.tokens = torch.randint(0, sizes.vocabulary, (2 * sizes.batch, sizes.sequence + 1), device=machine.device)
        self.extra = None

    @staticmethod
    def shape(sizes):
        return sizes.layers, sizes.width, sizes.heads

    def replicate(self):
        ids = [self.machine.device.index] if self.machine.on_gpu else None
        return nn.parallel.DistributedDataParallel(self.model, device_ids=ids, broadcast_buffers=False)

    def shard(self):
        from torch.distributed.fsdp import fully_shard
        for block in self.model.blocks:
            fully_shard(block)
        return fully_shard(self.model)

    def extra_products(self, count):
        if self.extra is None:
            rows, dtype = self.machine.sizes.product, torch.bfloat16 if self.machine.on_gpu else torch.float32
            self.extra = torch.full((rows, rows), 1e-3, dtype=dtype, device=self.machine.device)
        for _ in range(count):
            torch.mm(self.extra, self.extra)

    def step(self, batch, length):
        tokens = self.tokens[:batch, :length + 1]
        with torch.autocast(self.machine.device.type, dtype=torch.bfloat16, enabled=self.machine.on_gpu):
            loss = self.module(tokens[:, :-1], tokens[:, 1:])
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


class LargeGradientsJob(DataParallelJob):
    @staticmethod
    def shape(sizes):
        return sizes.wide_layers, sizes.wide_width, sizes.wide_heads


class PipelineJob:
    """One stage a rank. All micro-batches go forward, then all go back (GPipe); a scalar that all ranks add up ends the step."""

    def __init__(self, machine, options):
        self.machine, sizes = machine, machine.sizes
        torch.manual_seed(SEED + machine.rank)
        self.dtype = torch.bfloat16 if machine.on_gpu else torch.float32
        shift = max(1, sizes.stage_layers // machine.world)
        heavy = machine.rank == machine.world - 1
        uneven = sizes.stage_layers + (shift * (machine.world - 1) if heavy else -shift)
        self.stages = {False: self.make_stage(sizes.stage_layers), True: self.make_stage(uneven)}
        self.data = torch.randn(sizes.micro_batch, sizes.sequence, sizes.wide_width, dtype=self.dtype, device=machine.device)
        self.first, self.last = machine.rank == 0, machine.rank == machine.world - 1

    def make_stage(self, layers):
        sizes = self.machine.sizes
        stage = nn.Sequential(*(Block(sizes.wide_width, sizes.wide_heads) for _ in range(layers))).to(self.machine.device, self.dtype)
        return stage, self.machine.optimizer(stage.parameters())

    def receive(self, source, size):
        taken = torch.empty_like(self.data[:size])
        dist.recv(taken, source)
        return taken

    def step(self, uneven, micro_batches, size, ends=1):
        """`ends`: how often the step is ended."""
        stage, optimizer = self.stages[uneven]
        rank, inputs, outputs, sent = self.machine.rank, [], [], []
        for _ in range(micro_batches):
            x = self.data[:size] if self.first else self.receive(rank - 1, size).requires_grad_()
            y = stage(x)
            if self.last:
                y = y.float().square().mean() / micro_batches
            else:
                sent.append(dist.isend(y.detach(), rank + 1))
            inputs.append(x)
            outputs.append(y)
        loss = torch.stack([y.detach() for y in outputs]).sum() if self.last else torch.zeros((), device=self.machine.device)
        while outputs:
            gradient = None if self.last else self.receive(rank + 1, size)
            torch.autograd.backward(outputs.pop(), gradient)
            if not self.first:
                sent.append(dist.isend(inputs[len(outputs)].grad, rank - 1))
        for request in sent:
            request.wait()
        for _ in range(ends):
            dist.all_reduce(loss)
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)


class Cause:
    """One planted fault. `planted` is false in blocks that are off."""

    finding, reason = None, None  # what a report on the planted run must name first; None: nothing
    one_rank = False              # it is the fault of the last rank
    job = DataParallelJob

    def __init__(self, machine, knob):
        self.machine, self.sizes, self.knob = machine, machine.sizes, knob
        self.mine = machine.rank == machine.world - 1

    def step(self, job, planted):
        job.step(self.sizes.batch, self.sizes.sequence)


class StragglerProducts(Cause):
    """The last rank computes more matrix products before each step."""
    finding, reason, one_rank, knob, unit = "straggler", "more_work", True, 40, "matrix products a step"

    def step(self, job, planted):
        if planted and self.mine:
            job.extra_products(int(self.knob))
        super().step(job, planted)


class StragglerSleep(Cause):
    """The process of the last rank sleeps before each step."""
    finding, reason, one_rank, knob, unit = "straggler", "host", True, 40, "ms a step"

    def step(self, job, planted):
        if planted and self.mine:
            time.sleep(self.knob / 1e3)
        super().step(job, planted)


class StragglerBatch(Cause):
    """The last rank has a larger batch than the others; off: the same as they."""
    finding, reason, one_rank, knob, unit = "straggler", "more_work", True, 1.5, "times the batch of the others"

    def step(self, job, planted):
        batch = round(self.sizes.batch * (self.knob if planted and self.mine else 1))
        job.step(batch, self.sizes.sequence)


class UnevenLengths(Cause):
    """In each step another rank, drawn at random, has long sequences and the others short ones; off: all have the mean length."""
    finding, knob, unit = "imbalance", 0.75, "mean length over the long one"

    def __init__(self, machine, knob):
        super().__init__(machine, knob)
        unit, world = self.sizes.sequence // 16, machine.world
        self.long = self.sizes.sequence
        self.short = round(self.long * (world * self.knob - 1) / max(1, world - 1) / unit) * unit
        self.mean = round((self.long + (world - 1) * self.short) / world)
        self.draw = random.Random(SEED)  # the same on all ranks

    def step(self, job, planted):
        culprit = self.draw.randrange(self.machine.world)
        length = self.mean if not planted else self.long if culprit == self.machine.rank else self.short
        job.step(self.sizes.batch, length)


class FewMicroBatches(Cause):
    """A pipeline with few micro-batches a step; off: the work of two steps without draining the pipeline between them, which is what twice
    as many micro-batches of half the size would take if half a micro-batch took half the time."""
    finding, knob, unit, job = "pipeline_bubble", 1, "micro-batches a stage", PipelineJob
    joined = False

    def step(self, job, planted):
        count = round(self.knob * self.machine.world)
        if planted:
            job.step(False, count, self.sizes.micro_batch)
            return
        self.joined = not self.joined  # every other step does the work of two
        if self.joined:
            job.step(False, 2 * count, self.sizes.micro_batch, ends=2)


class UnevenStages(Cause):
    """The last stage of a pipeline has layers that the others should have; off: all have the same number."""
    finding, one_rank, knob, unit, job = "pipeline_stages", True, 10, "micro-batches for each stage but one", PipelineJob

    def step(self, job, planted):
        job.step(planted, round(self.knob) * (self.machine.world - 1), self.sizes.micro_batch // 2)


class Control(Cause):
    """Nothing planted."""
    knob, unit = 0, ""


class Communication(Cause):
    """Nothing planted, and little computing beside the gradients: for slow transports, which the environment sets."""
    knob, unit, job = 0, "", LargeGradientsJob

    def step(self, job, planted):
        job.step(self.sizes.small_batch, self.sizes.sequence)


CAUSES = {
    "straggler_gemm": StragglerProducts, "straggler_sleep": StragglerSleep, "straggler_batch": StragglerBatch,
    "uneven_lengths": UnevenLengths, "pipeline_bubble": FewMicroBatches, "pipeline_stages": UnevenStages, "control": Control,
    "communication": Communication,
}


def run_block(cause, job, planted, options):
    """Milliseconds a step."""
    for _ in range(options.settle):
        cause.step(job, planted)
    cause.machine.meet()
    began = time.perf_counter()
    for _ in range(options.steps):
        cause.step(job, planted)
    cause.machine.meet()
    return (time.perf_counter() - began) * 1e3 / options.steps


def run_cause(name, options, machine, jobs):
    kind = CAUSES[name]
    cause = kind(machine, options.knob or kind.knob)
    if kind.job not in jobs:
        jobs.clear()  # one model at a time
        gc.collect()
        jobs[kind.job] = kind.job(machine, options)
    control, step_ms = kind.knob == 0, {"off": [], "on": []}
    for state in [state for state in options.schedule if not (control and state == "off")] * options.rounds:
        step_ms[state].append(run_block(cause, jobs[kind.job], state == "on", options))
    return {
        "cause": name, "finding": kind.finding, "reason": kind.reason, "culprit": machine.world - 1 if kind.one_rank else None,
        "control": control, "knob": cause.knob, "unit": kind.unit, "world": machine.world,
        "parallel": "pipeline" if kind.job is PipelineJob else options.parallel,
        "step_ms_off": statistics.median(step_ms["off"]) if step_ms["off"] else None,
        "step_ms_on": statistics.median(step_ms["on"]) if step_ms["on"] else None,
        "blocks_off": step_ms["off"], "blocks_on": step_ms["on"], "steps": options.steps, "settle": options.settle,
        "device": torch.cuda.get_device_name(machine.device) if machine.on_gpu else "processor", "torch": torch.__version__,
    }


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cause", action="append", choices=CAUSES, help="may be repeated (default: all)")
    parser.add_argument("--parallel", choices=["ddp", "fsdp"], default="ddp",
                        help="how causes that are none of a pipeline train (default: ddp)")
    parser.add_argument("--schedule", default="off,on", help="blocks of a round: off, on, or both in any order (default: off,on)")
    parser.add_argument("--rounds", type=int, default=3, help="how often the schedule runs (default: 3)")
    parser.add_argument("--steps", type=int, default=12, help="timed steps of a block (default: 12)")
    parser.add_argument("--settle", type=int, default=4, help="steps before them (default: 4)")
    parser.add_argument("--knob", type=float, help="strength, in the unit of the cause; needs one --cause (default: the cause's)")
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
    return options


def main():
    options = parse_options()
    if options.list:
        for name, cause in CAUSES.items():
            print(f"{name:16} {cause.finding or 'nothing':16} {f'{cause.knob} {cause.unit}' if cause.knob else 'control'}: {cause.__doc__}")
        return 0
    if "RANK" not in os.environ or int(os.environ.get("WORLD_SIZE", "1")) < 2:
        sys.exit("ranks.py: needs two ranks or more: torchrun --nproc-per-node 2 ranks.py")
    machine, jobs = Machine(), {}
    for name in options.cause:
        try:
            result = run_cause(name, options, machine, jobs)
        except Exception as error:  # the other ranks stand in an operation by now: there is nothing to go on with
            traceback.print_exc()
            print(json.dumps({"cause": name, "error": f"rank {machine.rank}: {type(error).__name__}: {error}"}), flush=True)
            os._exit(1)
        if machine.rank == 0:
            print(json.dumps(result), flush=True)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
