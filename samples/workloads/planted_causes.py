# SPDX-License-Identifier: Apache-2.0
"""The causes that bottlenecks.py plants, each with its knob."""

import gc
import os
import shutil
import tempfile
import time

import torch
from torch import nn

from training_jobs import (BATCH, SEED, SEQUENCE, VOCABULARY, WIDTH, AccumulationJob, ChainJob, ConvJob, CopiedAhead,
                           InMemoryBatches, LongSequenceJob, LstmJob, MlpJob, RecommenderJob, TransformerJob, VitJob, WideJob)

CHECKPOINT_BYTES = 192 << 20


class Cause:
    """One planted bottleneck. `knob` is 0 in blocks that are off, else its strength."""

    label = "compute_bound"  # what a report on the planted run must say
    unit = ""                # of the knob
    knob = 0                 # the default strength; 0: a control, with nothing planted
    job = TransformerJob
    least_period = 1         # a block is a multiple of so many steps

    def __init__(self, options, strength):
        self.options, self.strength = options, strength

    def key_of_job(self):
        """Causes with the same key share a job."""
        return self.job

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


def random_tokens():
    return torch.randint(0, VOCABULARY, (BATCH, SEQUENCE + 1), generator=torch.Generator().manual_seed(SEED))


class PageableCopy(Cause):
    """A large batch is copied from pageable memory, blocking; off: from pinned memory, asynchronously."""
    label, unit, knob = "h2d_copy", "MB a batch", 256

    def __init__(self, options, strength):
        super().__init__(options, strength)
        self.batches = {}
        self.touched = None

    def loader(self, job, knob, steps):
        pinned = knob == 0
        if pinned not in self.batches:
            self.batches[pinned] = self.make_batches(pinned)
        # What lies in pinned memory already is not pinned again by the loader.
        return torch.utils.data.DataLoader(InMemoryBatches(steps, self.batches[pinned]), batch_size=None, pin_memory=pinned)

    def make_batches(self, pinned):
        tokens = random_tokens().pin_memory()
        megabytes = int(self.strength)
        features = [torch.full((megabytes << 18,), 0.5, dtype=torch.float32) for _ in range(2)]
        return [(tokens, feature.pin_memory() if pinned else feature) for feature in features]

    def step(self, job, knob, batch):
        tokens, features = batch
        self.touched = features.to(job.device, non_blocking=knob == 0).sum()
        job.step(tokens, planted=knob > 0)


class CopyInTurn(Cause):
    """A large batch in pinned memory is copied in turn with the kernels; off: a step ahead, on a stream of its own."""
    label, unit, knob = "h2d_copy", "MB a batch", 512

    def __init__(self, options, strength):
        super().__init__(options, strength)
        self.batches, self.ahead, self.touched = None, None, None

    def loader(self, job, knob, steps):
        if self.batches is None:
            self.ahead = CopiedAhead(job.device)
            self.batches = [(random_tokens().pin_memory(), torch.full((int(self.strength) << 18,), 0.5).pin_memory()) for _ in range(2)]
        return torch.utils.data.DataLoader(InMemoryBatches(steps, self.batches), batch_size=None)

    def step(self, job, knob, batch):
        # Tokens copied in turn would wait for the features of the next step: copies to the GPU queue up for one engine.
        tokens, features = self.ahead.exchange(batch) if knob == 0 else (tensor.to(job.device, non_blocking=True) for tensor in batch)
        self.touched = features.sum()
        job.step(tokens, planted=knob > 0)


class SyncPerLayer(Cause):
    """Statistics of every layer's output are logged, each number fetched by `.item()`; off: they stay on the GPU."""
    label, unit, knob = "sync_bound", ".item() calls a layer", 64

    def __init__(self, options, strength):
        super().__init__(options, strength)
        self.hooks, self.log = [], []

    def start(self, job, knob):
        def log_statistics(module, arguments, output):
            largest = output.detach().abs().amax(dim=(0, 1))[:int(self.strength)]
            self.log.append([value.item() for value in largest] if knob else largest)

        self.hooks = [block.register_forward_hook(log_statistics) for block in job.model.blocks]

    def after_step(self, job, knob, index):
        self.log.clear()

    def stop(self, job):
        for hook in self.hooks:
            hook.remove()
        self.hooks = []


class EmptyCache(Cause):
    """The allocator gives unused memory back to the driver, after each step and evenly within it, and asks for it again."""
    label, unit, knob = "allocator", "empty_cache() a step", 1
    hooks = ()

    def start(self, job, knob):
        blocks = list(job.model.blocks)
        within = [blocks[len(blocks) * number // int(knob)] for number in range(1, int(knob))] if knob else []
        self.hooks = [block.register_forward_hook(lambda *_: torch.cuda.empty_cache()) for block in within]

    def after_step(self, job, knob, index):
        if knob:
            torch.cuda.empty_cache()

    def stop(self, job):
        for hook in self.hooks:
            hook.remove()


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
    label, unit, knob = "launch_bound", "layers of small kernels", 150
    job = ChainJob

    def key_of_job(self):
        return self.job, self.strength


class SlowPython(Cause):
    """Python computes between the layers, on the thread that launches."""
    label, unit, knob = "host_code", "ms of Python a step", 30
    hooks = ()

    def start(self, job, knob):
        def compute(module, arguments):
            until = time.perf_counter() + knob / 1e3 / len(job.model.blocks)
            while time.perf_counter() < until:
                pass

        self.hooks = [block.register_forward_pre_hook(compute) for block in job.model.blocks] if knob else []

    def stop(self, job):
        for hook in self.hooks:
            hook.remove()


class SingleOptimizer(Cause):
    """AdamW walks many small parameters beside the model one by one; off: one fused kernel for many of them."""
    label, unit, knob = "launch_bound", "small parameters", 300

    def __init__(self, options, strength):
        super().__init__(options, strength)
        self.optimizers = {}

    def step(self, job, knob, batch):
        if not self.optimizers:
            parameters = [nn.Parameter(torch.ones(1024, device=job.device)) for _ in range(int(self.strength))]
            for parameter in parameters:
                parameter.grad = torch.ones_like(parameter)
            self.optimizers = {True: torch.optim.AdamW(parameters, lr=1e-5, foreach=False),
                               False: torch.optim.AdamW(parameters, lr=1e-5, fused=True)}
        job.step(batch, planted=knob > 0)
        self.optimizers[knob > 0].step()


class FetchResult(Cause):
    """A large result is fetched from the GPU in each step, blocking; off: it stays there."""
    label, unit, knob = "sync_bound", "MB a step", 64
    result = fetched = None

    def step(self, job, knob, batch):
        if self.result is None:
            self.result = torch.ones(int(self.strength) << 18, device=job.device)
        job.step(batch, planted=knob > 0)
        self.result.add_(1)
        self.fetched = self.result.cpu() if knob else self.result


class SideLayers(Cause):
    """Layers beside the model, trained in each step. `knob` of them, off as well as on: what differs is how they are computed."""

    def __init__(self, options, strength):
        super().__init__(options, strength)
        self.layers = {}

    def layer(self, planted):
        """Of the input width and output width WIDTH."""
        raise NotImplementedError

    def inputs(self, device):
        return torch.randn(BATCH * SEQUENCE, WIDTH, device=device)

    def step(self, job, knob, batch):
        planted = knob > 0
        if planted not in self.layers:
            with job.device:
                model = nn.Sequential(*(self.layer(planted) for _ in range(int(self.strength))))
            self.layers[planted] = model, self.inputs(job.device)
        job.step(batch, planted)
        model, values = self.layers[planted]
        model(values).float().square().mean().backward()
        model.zero_grad(set_to_none=True)


class FullPrecision(SideLayers):
    """Products of fp32 matrices that may not use TF32; off: they may."""
    label, unit, knob = "low_precision_unused", "layers in fp32", 1

    def layer(self, planted):
        return nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))

    def start(self, job, knob):
        torch.backends.cuda.matmul.allow_tf32 = knob == 0

    def stop(self, job):
        torch.backends.cuda.matmul.allow_tf32 = False


class UnalignedProducts(SideLayers):
    """bf16 products with a dimension of 6143; off: 6144."""
    label, unit, knob = "inefficient_gemm", "layers of an odd width", 4

    def layer(self, planted):
        inner = 4 * WIDTH - planted
        return nn.Sequential(nn.Linear(WIDTH, inner), nn.ReLU(), nn.Linear(inner, WIDTH)).to(torch.bfloat16)

    def inputs(self, device):
        return super().inputs(device).to(torch.bfloat16)


class InBlocks(Cause):
    """Something that some layers of the transformer compute another way."""

    def start(self, job, knob):
        for block in list(job.model.blocks)[:int(knob)]:
            self.change(block)

    def change(self, block):
        raise NotImplementedError

    def stop(self, job):
        for block in job.model.blocks:
            for name in ("attend", "activate"):
                block.__dict__.pop(name, None)  # what the class has shows again


class WrittenOutAttention(InBlocks):
    """Attention as two products with a mask and a softmax in between; off: one fused call."""
    label, unit, knob = "unfused_attention", "layers", 6

    def change(self, block):
        mask = torch.ones(SEQUENCE, SEQUENCE, dtype=torch.bool, device=block.qkv.weight.device).triu(1)

        def attend(query, key, value):
            scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
            return scores.masked_fill(mask, float("-inf")).softmax(dim=-1) @ value

        block.attend = attend


class WrittenOutGelu(InBlocks):
    """The activation as a formula, a kernel for each operation; off: one kernel."""
    label, unit, knob = "memory_bound", "layers", 12

    def change(self, block):
        block.activate = lambda x: 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def control(text, job_class):
    """A cause with nothing planted."""
    return type("Control", (Cause,), {"__doc__": f"Nothing planted; {text}.", "job": job_class})


class HiddenLoader(Cause):
    """Nothing planted; workers decode for longer than a step, but there are enough of them."""

    def loader(self, job, knob, steps):
        return job.loader(steps, workers=4, context=self.options.start_method, busy_ms=20 / BATCH)


class LossFetched(Cause):
    """Nothing planted; the loss is fetched once every tenth step."""

    def after_step(self, job, knob, index):
        if index % 10 == 0:
            job.loss.item()


CAUSES = {
    "dataloader_cpu": DataLoaderCpu, "dataloader_sleep": DataLoaderSleep, "h2d_copy": PageableCopy, "upload": CopyInTurn, "sync": SyncPerLayer,
    "fetch": FetchResult, "allocator": EmptyCache, "checkpoint": Checkpoint, "gc": GarbageCollection, "launch": SmallKernels,
    "python": SlowPython, "optimizer": SingleOptimizer, "fp32": FullPrecision, "unaligned": UnalignedProducts,
    "attention": WrittenOutAttention, "gelu": WrittenOutGelu,
    "transformer": control("matrix products", TransformerJob), "conv": control("convolutions", ConvJob),
    "long_sequence": control("attention over 4,096 tokens", LongSequenceJob), "wide": control("large products", WideJob),
    "accumulation": control("two micro-batches a step", AccumulationJob), "vit": control("a vision transformer", VitJob),
    "lstm": control("a recurrent network", LstmJob), "mlp": control("products alone", MlpJob),
    "recommender": control("embedding tables", RecommenderJob), "workers": HiddenLoader, "loss": LossFetched,
}
