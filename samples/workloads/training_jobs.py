# SPDX-License-Identifier: Apache-2.0
"""Small models, each with its data, its optimizer and one step of training: what bottlenecks.py plants its causes in."""

import time
import zlib

import torch
import torch.nn.functional as functional
from torch import nn

from transformer import Block, SyntheticTokens, Transformer, capture_step

SEED = 1234
# About 25 ms a step on an H100 or H200, of which the host needs 10 ms to launch it: a delay of the host costs only what exceeds
# the 15 ms by which it runs ahead. The knobs of the causes are set for that.
LAYERS, WIDTH, HEADS, SEQUENCE, BATCH, VOCABULARY = 12, 1536, 12, 1024, 4, 32768
IMAGES, IMAGE_SIZE, CLASSES = 256, 192, 1000


class SlowTokens(SyntheticTokens):
    """Samples that take time: `busy_ms` of computing (decompression), then `sleep_ms` of waiting, as for a disk or a network."""

    def __init__(self, samples, sequence, busy_ms=0.0, sleep_ms=0.0):
        super().__init__(samples, sequence, VOCABULARY, SEED)
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

    layers, width, heads, sequence, batch = LAYERS, WIDTH, HEADS, SEQUENCE, BATCH

    def __init__(self, device, options, strength):
        self.device = device
        torch.manual_seed(SEED)
        with device:
            self.model = Transformer(self.layers, self.width, self.heads, self.sequence, VOCABULARY)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self.loss = None

    def loader(self, steps, workers=0, context=None, **cost):
        data = SlowTokens(steps * self.batch, self.sequence, **cost)
        return torch.utils.data.DataLoader(data, batch_size=self.batch, num_workers=workers, pin_memory=True,
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

    batch, sequence = BATCH, SEQUENCE

    def __init__(self, device, options, strength):
        self.device = device
        torch.manual_seed(SEED)
        with device:
            self.model = ElementwiseChain(int(strength), SEQUENCE + 1)
        # Plain SGD has no host-side decisions, so that its step can be captured.
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9, foreach=False)
        self.tokens = torch.zeros(BATCH, SEQUENCE + 1, dtype=torch.int64, device=device)
        self.loss = None
        self.graph = capture_step(self.train, self.device) if "off" in options.schedule else None

    loader = TransformerJob.loader

    def train(self):
        loss = self.model(self.tokens.float() / VOCABULARY)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()

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

    def __init__(self, device, options, strength):
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


class LongSequenceJob(TransformerJob):
    """The same tokens in one sequence: attention is a larger part."""
    layers, sequence, batch = 8, 4096, 1


class WideJob(TransformerJob):
    """Few layers of twice the width: larger products."""
    layers, width, heads = 4, 3072, 24


class AccumulationJob(TransformerJob):
    """Two micro-batches a step, each as large as a batch of the others: halves of one are too short for a slow host to keep up."""
    batch = 2 * BATCH

    def train(self, tokens):
        for part in tokens.chunk(2):
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = self.model(part[:, :-1], part[:, 1:])
            (loss / 2).backward()
            self.loss = loss.detach()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


class CopiedAhead:
    """Copies each batch to the GPU while the one before is computed, on a stream of its own."""

    def __init__(self, device):
        self.device, self.stream, self.copied = device, torch.cuda.Stream(device), None

    def exchange(self, batch):
        """Begins to copy this batch, and returns the one before, which is there by now; the first one itself."""
        current = torch.cuda.current_stream(self.device)
        current.wait_stream(self.stream)
        ready = self.copied
        with torch.cuda.stream(self.stream):
            self.copied = tuple(tensor.to(self.device, non_blocking=True) for tensor in batch)
        if ready is None:
            current.wait_stream(self.stream)
            ready = self.copied
        for tensor in ready:
            tensor.record_stream(current)
        return ready


class BatchJob:
    """A model, and batches of its inputs and targets that are ready in pinned memory. Subclasses make both, and the loss."""

    def __init__(self, device, options, strength):
        self.device = device
        torch.manual_seed(SEED)
        with device:
            self.model = self.make_model()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self.batches = [tuple(tensor.pin_memory() for tensor in self.make_batch())]
        self.ahead = CopiedAhead(device)
        self.loss = None

    loader = ConvJob.loader

    def step(self, batch, planted):
        inputs, targets = self.ahead.exchange(batch)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = self.loss_of(inputs, targets)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()

    def loss_of(self, inputs, targets):
        return functional.cross_entropy(self.model(inputs).float(), targets)


class VisionTransformer(nn.Module):
    """Patches of 16 x 16, then attention without a mask."""

    def __init__(self, layers, width, heads, side):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.positions = nn.Parameter(torch.randn((side // 16) ** 2, width) * 0.02)
        self.blocks = nn.Sequential(*(Block(width, heads, causal=False) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2) + self.positions
        return self.head(self.norm(self.blocks(x)).mean(dim=1))


class VitJob(BatchJob):
    """A vision transformer."""

    def make_model(self):
        return VisionTransformer(12, 768, 12, 224)

    def make_batch(self):
        return torch.randn(128, 3, 224, 224, dtype=torch.bfloat16), torch.randint(0, CLASSES, (128,))


class Recurrent(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.LSTM(width, width, 2)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.layers(x)[0][-1])


class LstmJob(BatchJob):
    """Two LSTM layers over a batch that is large enough for products of each time step."""

    def make_model(self):
        return Recurrent(1024)

    def make_batch(self):
        return torch.randn(64, 2048, 1024, dtype=torch.bfloat16), torch.randint(0, CLASSES, (2048,))


class MlpJob(BatchJob):
    """Large products and nothing else."""

    def make_model(self):
        layers = [layer for _ in range(6) for layer in (nn.Linear(6144, 6144), nn.ReLU())]
        return nn.Sequential(*layers, nn.Linear(6144, CLASSES))

    def make_batch(self):
        return torch.randn(6144, 6144, dtype=torch.bfloat16), torch.randint(0, CLASSES, (6144,))


class Recommender(nn.Module):
    """Tables of categories, and a few layers on what is looked up."""

    def __init__(self, tables, rows, width):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.layers = nn.Sequential(nn.Linear(tables * width, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, CLASSES))

    def forward(self, categories):
        return self.layers(torch.cat([table(categories[:, index]) for index, table in enumerate(self.tables)], dim=1))


class RecommenderJob(BatchJob):
    """Embedding tables: memory is what is busy."""

    def make_model(self):
        return Recommender(26, 20000, 128)

    def make_batch(self):
        return torch.randint(0, 20000, (16384, 26)), torch.randint(0, CLASSES, (16384,))
