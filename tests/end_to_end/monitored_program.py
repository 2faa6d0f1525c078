# SPDX-License-Identifier: Apache-2.0
"""A rank that trains until it is killed, on a stand-in for PyTorch and on the fake GPU, so that every metric has a value: it reads from a
data loader, launches kernels, and reduces gradients. `monitored_program.py [STALL_AFTER]`: after so many steps a kernel never ends.
"""

import ctypes
import itertools
import os
import sys
import time

import torch
from stacks_program import Dim3, Gpu, Kernel

MS = 1_000_000
ONE, CALLBACK = Dim3(1, 1, 1), ctypes.CFUNCTYPE(None)
BATCHES, BATCH, ITEM_S = 50, 4, 0.003
ALL_REDUCE = b"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


class Items:
    def __len__(self):
        return BATCHES * BATCH

    def __getitem__(self, index):
        time.sleep(ITEM_S)
        return torch.Tensor(3, 32, 32)


def stack(items):
    return torch.Tensor(len(items), *items[0].shape)


def kernel(name, duration_ns):
    """The arguments of its launch."""
    return ctypes.byref(Kernel(0x4b45524e454c4b31, name, duration_ns, 32, 0, 0)), ONE, ONE, None, ctypes.c_size_t(0), None


def batches():
    for _ in itertools.count():
        yield from torch.utils.data.DataLoader(Items(), batch_size=BATCH, collate_fn=stack)


def train(stall_after):
    nccl, linked = ctypes.CDLL("libnccl.so.2"), ctypes.CDLL(None)
    nccl.FakeNcclInit.restype = ctypes.c_void_p
    communicator = nccl.FakeNcclInit(int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"]), 0)
    reduce_gradients = CALLBACK(lambda: linked.cudaLaunchKernel(*kernel(ALL_REDUCE, 12 * MS)))
    torch.cuda._initialized = True
    optimizer = torch.optim.SGD()
    for step, _ in enumerate(batches(), 1):
        for _ in range(4):
            linked.cudaLaunchKernel(*kernel(b"gemm_forward", 5 * MS))
        nccl.FakeNcclAllReduce(ctypes.c_void_p(communicator), ctypes.c_uint64(32 << 20), reduce_gradients)
        if step == stall_after:
            linked.cudaLaunchKernel(*kernel(b"endless", 10**15))
        linked.cudaDeviceSynchronize()
        optimizer.step()


if __name__ == "__main__":
    Gpu()
    train(int(sys.argv[1]) if len(sys.argv) > 1 else None)
