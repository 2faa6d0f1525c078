# SPDX-License-Identifier: Apache-2.0
"""A rank of a job on the fake GPU, one of which does something that its peers do not: `ranks_program.py KIND LATE SEED STEPS`.

Kernels take as long as they are told, so that what a rank waits for the late one is known before: its AllReduce takes so much longer.
"""

import ctypes
import os
import random
import sys
import time

from stacks_program import Dim3, Gpu, Kernel

MS = 1_000_000
MORE, SLOWER, HOST_NS, TRANSFER_NS = 6, 2.5, 6 * MS, 300_000
ONE, CALLBACK = Dim3(1, 1, 1), ctypes.CFUNCTYPE(None)
NAMES = (b"gemm_forward", b"flash_forward", b"norm_forward", b"gemm_backward", b"flash_backward")


def own_rank():
    """LOCAL_RANK where a launcher tells no more, as Lightning's."""
    return int(os.environ.get("RANK", os.environ["LOCAL_RANK"]))


def arguments(kernel):
    """Of the launch of it, so that it is launched in the line that stands for it."""
    return ctypes.byref(kernel), ONE, ONE, None, ctypes.c_size_t(0), None


def extra_work(launch, kernel):
    for _ in range(MORE):
        launch(*kernel)  # extra


def augment(ns):
    time.sleep(ns / 1e9)  # host


def layers(launch):
    """Lines that launch, each in a place of its own."""
    return [eval(compile("\n" * number + "lambda kernel: launch(*kernel)", f"/w/layer{number % 3}.py", "eval"), {"launch": launch}) for number in range(12)]


def train(kind, is_late, seed, steps):
    nccl, linked = ctypes.CDLL("libnccl.so.2"), ctypes.CDLL(None)
    nccl.FakeNcclInit.restype, launch = ctypes.c_void_p, linked.cudaLaunchKernel
    chance = random.Random(seed)
    lengths = {name: chance.randint(400, 900) * 1000 for name in NAMES}
    planted_kernel, planted_at = chance.choice(NAMES), chance.randrange(12)
    late_ns = {"more": MORE * lengths[planted_kernel], "host": HOST_NS,
               "slower": round((SLOWER - 1) * lengths[planted_kernel]) * sum(number % 5 == NAMES.index(planted_kernel) for number in range(12))}[kind]
    played = {name: arguments(Kernel(0x4b45524e454c4b31, name, round(length * (SLOWER if is_late and kind == "slower" and name == planted_kernel else 1)), 32, 0, 0))
              for name, length in lengths.items()}
    all_reduce = arguments(Kernel(0x4b45524e454c4b31, b"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                                  TRANSFER_NS + (0 if is_late else late_ns), 96, 0, 0))
    adam = arguments(Kernel(0x4b45524e454c4b31, b"adam", 200_000, 32, 0, 0))
    communicator = nccl.FakeNcclInit(int(os.environ["WORLD_SIZE"]), own_rank(), 0)
    reduce_gradients = CALLBACK(lambda: launch(*all_reduce))
    model = layers(launch)
    for _ in range(steps):
        for number, layer in enumerate(model):
            layer(played[NAMES[number % 5]])
            if is_late and kind == "more" and number == planted_at:
                extra_work(launch, played[planted_kernel])
        nccl.FakeNcclAllReduce(ctypes.c_void_p(communicator), ctypes.c_uint64(32 << 20), reduce_gradients)
        launch(*adam)
        linked.cudaStreamSynchronize(None)
        if kind == "host":
            augment(MS + is_late * HOST_NS)
    return planted_kernel.decode(), late_ns


def main():
    kind, late, seed, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    Gpu()
    time.sleep(0.5)  # until the file is there, and with it the samples
    print(*train(kind, own_rank() == late, seed, steps))


if __name__ == "__main__":
    main()
