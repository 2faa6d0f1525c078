# SPDX-License-Identifier: Apache-2.0
"""As much of PyTorch 2.8 as injector/tries/levers.py knows, with tensors of shapes only. What is done to it is in `log`."""

log = []

import torch._C  # noqa: E402 - they log

bfloat16, float16, float64, channels_last = "bfloat16", "float16", "float64", "channels_last"


class Device:
    def __init__(self, type):
        self.type = type

    def __str__(self):
        return self.type


class Tensor:
    def __init__(self, shape=(1,), device="cpu", value=0.0, pinned=False):
        self.shape, self.device, self.value, self.pinned, self.layout = shape, Device(device), value, pinned, "contiguous"

    is_cuda = property(lambda self: self.device.type == "cuda")

    def dim(self):
        return len(self.shape)

    def is_floating_point(self):
        return True

    def is_complex(self):
        return False

    def is_pinned(self):
        return self.pinned

    def numel(self):
        return 1 if self.shape == (1,) else 2

    def detach(self, *_):
        return self

    reshape = double = detach

    def item(self):
        return self.value

    __float__ = item

    def to(self, device=None, dtype=None, non_blocking=False):
        log.append(("to", str(device), non_blocking))
        return self

    def cuda(self, device=None, non_blocking=False):
        log.append(("cuda", str(device), non_blocking))
        return self

    def contiguous(self, memory_format):
        log.append(("input", memory_format))
        return self

    def copy_(self, other, non_blocking):
        assert non_blocking
        self.value = other.value

    def backward(self):
        torch.autograd.backward(self)


import torch.autograd, torch.backends, torch.compiler, torch.cuda, torch.jit, torch.nn, torch.optim, torch.serialization, torch.utils  # noqa: E401, E402 - they use Tensor
from torch.serialization import save  # noqa: E402, F401


class Buffer:
    def __init__(self):
        self.values = [Tensor() for _ in range(4096)]

    def __getitem__(self, index):
        return self.values[index.start if isinstance(index, slice) else index]


def empty(size, dtype, device, pin_memory):
    log.append(("empty", size, dtype, device, pin_memory))
    return Buffer()


autocast = {"on": False, "cache": True, "dtype": None}


def set_autocast_dtype(device, dtype):
    autocast["dtype"] = dtype


def set_autocast_enabled(device, on):
    autocast["on"] = on


def is_autocast_enabled(device):
    return autocast["on"]


def set_autocast_cache_enabled(on):
    autocast["cache"] = on


_matmul_precision = "highest"


def set_float32_matmul_precision(precision):
    global _matmul_precision
    _matmul_precision = precision


def get_float32_matmul_precision():
    return _matmul_precision
