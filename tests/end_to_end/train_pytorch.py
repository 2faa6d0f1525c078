# SPDX-License-Identifier: Apache-2.0
"""Training with the real PyTorch on the processor, beside the fake GPU; prints what it measured itself, and its results, as JSON.

It runs with and without the library: its results must be the same.
"""

import argparse
import ctypes
import json
import os
import sys
import time

import torch
import watched
from torch.utils.data import DataLoader, Dataset, IterableDataset

LENGTH, BATCH, ITEM_S = 30, 4, 0.002  # the last batch is smaller


class Items(Dataset):
    def __init__(self, fail_at=None):
        self.fail_at = fail_at

    def __len__(self):
        return LENGTH

    def __getitem__(self, index):
        if index == self.fail_at:
            raise ValueError(f"item {index} cannot be read")
        time.sleep(ITEM_S)
        return torch.full((16,), float(index))


class Stream(IterableDataset):
    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, LENGTH, step):
            time.sleep(ITEM_S)
            yield torch.full((16,), float(index))


def use_gpu():
    """Initialises CUDA, which starts the recording, and does some work, so that there is a file."""
    runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)


def train(loader, stop_after=None):
    """One pass with two optimizers. The time around each next(), the samples of each batch, and what was learnt."""
    torch.manual_seed(7)
    model = torch.nn.Linear(16, 4)
    optimizers = [torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9), torch.optim.AdamW(model.parameters(), lr=1e-4)]
    waits, sizes, losses, error = [], [], [], ""
    batches = iter(loader)
    while stop_after is None or len(sizes) < stop_after:
        start = time.time_ns()
        try:
            batch = next(batches, None)
        except ValueError as raised:
            batch, error = None, str(raised).strip().splitlines()[-1]
        waits.append((start, time.time_ns()))
        if batch is None:
            break
        sizes.append(len(batch))
        loss = model(batch).square().mean()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        losses.append(loss.item().hex())
    return {"waits": waits, "sizes": sizes, "losses": losses, "error": error}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--context", default="fork")
    parser.add_argument("--stream", action="store_true", help="a data set that is iterated over")
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("--fail-at", type=int)
    parser.add_argument("--stop-after", type=int)
    options = parser.parse_args()
    torch.set_num_threads(1)
    use_gpu()
    if "libtraceinject" in os.environ.get("LD_PRELOAD", ""):
        watched.wait_until_watched(torch.utils.data.dataloader._BaseDataLoaderIter.__next__,
                                   torch._C.PyTorchFileWriter.__dict__["write_end_of_file"])
    loader = DataLoader(Stream() if options.stream else Items(options.fail_at), batch_size=BATCH, num_workers=options.workers,
                        multiprocessing_context=options.context if options.workers else None,
                        persistent_workers=options.persistent)
    passes = [train(loader, options.stop_after) for _ in range(2)]
    start = time.time_ns()
    torch.save({"more": torch.zeros(500_000)}, os.devnull)
    save = (start, time.time_ns())
    print(json.dumps({"passes": passes, "save": save}))
    sys.exit(3)


if __name__ == "__main__":
    main()
