#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a ResNet or a ViT on images that DataLoader workers read and decode, and prints one line of JSON with the step times.

The images are files that the program makes itself in a temporary folder: JPEG where Pillow is installed, else PNG, decoded with zlib
and PyTorch. Workers decode, crop at random and scale them, as programs do that train on photographs.

  fed in time              python3 images.py --model resnet
  a vision transformer     python3 images.py --model vit
  bound by decoding        python3 images.py --model resnet --workers 1 --image-size 1024 --batch 8

Step times are those of the GPU, by CUDA events at the end of each step; nothing is synchronised in between.
"""

import argparse
import ctypes
import json
import os
import pathlib
import struct
import sys
import tempfile
import zlib

import torch
import torch.nn.functional as functional
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from transformer import Block, flops_by_operator, timed_steps  # noqa: E402

try:
    from PIL import Image
except ImportError:
    Image = None

SEED, CLASSES, SIDE = 1234, 1000, 224
CROP = 7 / 8  # of each side of an image
STAGES = (3, 4, 6, 3)  # blocks of a ResNet-50
PATCH, DEPTH, WIDTH, HEADS = 16, 12, 768, 12  # a ViT-B
PNG_SIGNATURE, PNG_FILTER_UP = b"\x89PNG\r\n\x1a\n", 2


def bytes_of(pixels):
    return ctypes.string_at(pixels.contiguous().data_ptr(), pixels.numel())


def write_jpeg(path, pixels):
    height, width, _ = pixels.shape
    Image.frombytes("RGB", (width, height), bytes_of(pixels)).save(path, "JPEG", quality=90)


def read_jpeg(path):
    with Image.open(path) as image:
        image = image.convert("RGB")
        return torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8).view(image.height, image.width, 3)


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, pixels):
    """Eight bits RGB; every line is filtered as its difference to the line above, which is what `read_png` undoes."""
    height, width, _ = pixels.shape
    lines = pixels.reshape(height, -1)
    lines = torch.cat([lines[:1], lines[1:] - lines[:-1]])
    lines = torch.cat([torch.full((height, 1), PNG_FILTER_UP, dtype=torch.uint8), lines], dim=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    path.write_bytes(PNG_SIGNATURE + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(bytes_of(lines), 6)) +
                     png_chunk(b"IEND", b""))


def read_png(path):
    data, at, packed = path.read_bytes(), len(PNG_SIGNATURE), b""
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", data, at + 8)
        elif kind == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += length + 12
    lines = torch.frombuffer(bytearray(zlib.decompress(packed)), dtype=torch.uint8).view(height, 1 + 3 * width)
    return lines[:, 1:].cumsum(0, dtype=torch.uint8).view(height, width, 3)


def make_images(folder, count, size):
    """Soft shapes with a little noise: they compress about as photographs do."""
    generator = torch.Generator().manual_seed(SEED)
    for index in range(count):
        shapes = functional.interpolate(torch.rand(1, 3, 16, 16, generator=generator), size=(size, size), mode="bicubic")[0]
        noise = 0.04 * torch.randn(3, size, size, generator=generator)
        pixels = (255 * (shapes + noise)).clamp(0, 255).to(torch.uint8).permute(1, 2, 0)
        (write_jpeg if Image else write_png)(folder / f"{index}.{'jpg' if Image else 'png'}", pixels)


class ImageFiles(torch.utils.data.Dataset):
    """`samples` decodings of the files of a folder, each time cropped at another place."""

    def __init__(self, folder, samples):
        self.paths, self.samples = sorted(folder.iterdir()), samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        path = self.paths[index % len(self.paths)]
        pixels = (read_png if path.suffix == ".png" else read_jpeg)(path)
        side = int(CROP * pixels.shape[0])
        top, left = torch.randint(0, pixels.shape[0] - side + 1, (2,), generator=torch.Generator().manual_seed(SEED + index)).tolist()
        cut = pixels[top:top + side, left:left + side].permute(2, 0, 1)[None].float()
        return functional.interpolate(cut, size=(SIDE, SIDE), mode="bilinear", antialias=True)[0].to(torch.uint8), index % CLASSES


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolutions with a shortcut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.convolutions = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity()
        if stride > 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return functional.relu(self.convolutions(x) + self.shortcut(x))


def make_resnet():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for stage, blocks in enumerate(STAGES):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, 64 << stage, 2 if stage > 0 and block == 0 else 1))
            inputs = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


class VisionTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(3 * PATCH * PATCH, WIDTH)
        self.positions = nn.Parameter(torch.randn((SIDE // PATCH)**2, WIDTH) * 0.02)
        self.blocks = nn.Sequential(*[Block(WIDTH, HEADS, causal=False) for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, images):
        batch, channels, side, _ = images.shape
        rows = side // PATCH
        patches = images.reshape(batch, channels, rows, PATCH, rows, PATCH).permute(0, 2, 4, 1, 3, 5).reshape(batch, rows * rows, -1)
        return self.head(self.norm(self.blocks(self.embed(patches) + self.positions)).mean(dim=1))


class Trainer:
    def __init__(self, options, device):
        self.device = device
        torch.manual_seed(SEED)
        # Convolutions are fastest on images whose channels lie together.
        self.layout = torch.channels_last if options.model == "resnet" else torch.contiguous_format
        self.model = (make_resnet() if options.model == "resnet" else VisionTransformer()).to(device, memory_format=self.layout)
        how = {"fused": True} if device.type == "cuda" else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, **how)
        self.loss = None

    def forward(self, images, labels):
        images = images.to(self.device, non_blocking=True).to(memory_format=self.layout).float().div_(255)
        with torch.autocast(self.device.type, dtype=torch.bfloat16):
            logits = self.model(images)
        return functional.cross_entropy(logits.float(), labels.to(self.device, non_blocking=True))

    def step(self, batch):
        loss = self.forward(*batch)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()


def train(options, device, folder):
    trainer = Trainer(options, device)
    images = ImageFiles(folder, (options.warmup + options.steps) * options.batch)
    # One batch ahead a worker: they lie in /dev/shm, which containers often limit to 64 MB.
    how = {"num_workers": options.workers, "prefetch_factor": 1} if options.workers else {}
    loader = torch.utils.data.DataLoader(images, batch_size=options.batch, pin_memory=device.type == "cuda", **how)
    batches = iter(loader)
    figures = timed_steps(lambda: trainer.step(next(batches)), options.warmup, options.steps, device)
    if options.figures:
        batch = torch.zeros(options.batch, 3, SIDE, SIDE, dtype=torch.uint8), torch.zeros(options.batch, dtype=torch.int64)
        figures["flops"] = flops_by_operator(lambda: trainer.forward(*batch))
    return {"workload": "images", "model": options.model, "format": "jpeg" if Image else "png", "workers": options.workers,
            "image_size": options.image_size, "batch": options.batch, "loss": float(trainer.loss), "torch": torch.__version__, **figures}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=["resnet", "vit"], default="resnet", help="a ResNet-50 or a ViT-B (default: resnet)")
    parser.add_argument("--steps", type=int, default=30, help="timed steps (default: 30)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before them (default: 10)")
    parser.add_argument("--batch", type=int, default=32, help="images a step (default: 32)")
    parser.add_argument("--workers", type=int, default=6, help="processes that decode; 0: the training process (default: 6)")
    parser.add_argument("--image-size", type=int, default=256, help="pixels of a side of the files (default: 256)")
    parser.add_argument("--files", type=int, default=32, help="how many there are (default: 32)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: to try the program, not to time it")
    parser.add_argument("--figures", action="store_true",
                        help="also count the FLOPs of a step by torch.utils.flop_counter, after the steps")
    options = parser.parse_args()
    if min(options.steps, options.warmup, options.batch, options.files) < 1 or options.workers < 0 or options.image_size < 32:
        parser.error("--steps, --warmup, --batch and --files must be at least 1, --image-size at least 32")
    return options


def main():
    options = parse_options()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("images.py: needs a CUDA device")
    device = torch.device("cuda", 0) if options.device == "cuda" else torch.device("cpu")
    with tempfile.TemporaryDirectory(prefix="images-") as folder:
        make_images(pathlib.Path(folder), options.files, options.image_size)
        print(json.dumps(train(options, device, pathlib.Path(folder))), flush=True)


if __name__ == "__main__":
    main()
