# SPDX-License-Identifier: Apache-2.0
"""Training as a PyTorch program does it, on the stand-in for PyTorch and the fake GPU; prints what it measured itself as JSON.

With a parameter it plays one of the scenes below instead. torch is found through PYTHONPATH.
"""

import argparse
import ctypes
import gc
import json
import os
import sys
import threading
import time


class Dataset:
    def __init__(self, length, item_us, fail_at=None):
        self.length, self.item_us, self.fail_at = length, item_us, fail_at

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        if index == self.fail_at:
            raise ValueError(f"item {index} cannot be read")
        time.sleep(self.item_us * 1e-6)
        return index


def use_gpu():
    """Initialises CUDA, which starts the recording, and does some work, so that there is a file."""
    runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)


def is_hooked():
    return (hasattr(sys.modules["torch.utils.data.dataloader"]._BaseDataLoaderIter.__next__, "__wrapped__")
            and hasattr(sys.modules["torch"].save, "__wrapped__"))


def wait_until_hooked(limit_s=20):
    end = time.monotonic() + limit_s
    while not is_hooked() and time.monotonic() < end:
        time.sleep(0.001)
    return is_hooked()


def run_pass(loader, optimizers, waits):
    """One pass over the loader; the time around each next() in ns."""
    batches, count = iter(loader), 0
    while True:
        start = time.time_ns()
        try:
            next(batches)
        except StopIteration:
            waits.append((start, time.time_ns() - start))
            return count
        waits.append((start, time.time_ns() - start))
        count += 1
        time.sleep(0.001)
        for optimizer in optimizers:
            assert optimizer.step() == "stepped"


def train(options, torch):
    loader = torch.utils.data.DataLoader(
        Dataset(options.items, options.item_us), batch_size=4, num_workers=options.workers, pin_memory=True,
        multiprocessing_context=options.context if options.workers else None)
    optimizers = [torch.optim.SGD() for _ in range(options.optimizers)]
    waits, batches = [], 0
    for _ in range(options.passes):
        batches += run_pass(loader, optimizers, waits)
    return {"waits": waits, "batches": batches, "steps": batches * options.optimizers}


def scene_plain(options, torch):
    return train(options, torch)


def scene_old(options, torch):
    """PyTorch before 2.1: no hooks of steps, no torch.compiler. One class is there before the patch, one comes later."""
    early = torch.optim.SGD()

    class Later(torch.optim.SGD):
        def step(self):
            return super().step()

    optimizers = [early, Later()]
    waits = []
    loader = torch.utils.data.DataLoader(Dataset(40, 10), batch_size=4)
    steps = 2 * run_pass(loader, optimizers, waits)
    return {"waits": waits, "steps": steps}


def scene_compiling(options, torch):
    """Nothing is marked while torch.compile traces."""
    optimizer = torch.optim.SGD()
    torch.compiler.compiling = True
    loader = torch.utils.data.DataLoader(Dataset(20, 10), batch_size=4)
    run_pass(loader, [optimizer], [])
    torch.save(1, "truth.saved")
    torch.compiler.compiling = False
    optimizer.step()
    return {"steps": 1}


def scene_checkpoint(options, torch):
    torch.save(torch.serialization.Slow(0.05), "truth.saved")
    torch.serialization.save(torch.serialization.Nested(), "truth.saved")
    try:
        torch.save(1, "no/such/folder")
    except OSError:
        pass
    return {"seconds": 0.05}


def scene_collect(options, torch):
    gc.disable()
    nodes = [[] for _ in range(200000)]
    start = time.time_ns()
    gc.collect()
    took = time.time_ns() - start
    gc.collect(1)
    del nodes
    return {"took": took}


def scene_error(options, torch):
    loader = torch.utils.data.DataLoader(Dataset(20, 10, fail_at=9), batch_size=4, num_workers=options.workers)
    seen = []
    try:
        for batch in loader:
            seen.append(len(batch))
    except ValueError as error:
        return {"seen": seen, "error": str(error), "type": type(error).__name__}
    return {}


def functions_behind(function, found):
    """All functions that `function` can reach through closures."""
    if function not in found:
        found.append(function)
        for cell in function.__closure__ or ():
            if isinstance(cell.cell_contents, type(functions_behind)):
                functions_behind(cell.cell_contents, found)
    return found


def scene_looks(options, torch):
    """The patched functions look as before."""
    method, save = torch.utils.data.dataloader._BaseDataLoaderIter.__next__, torch.save
    functions = []
    for function in (method, save, *torch.optim.optimizer._global_optimizer_post_hooks.values(), *gc.callbacks):
        functions_behind(function, functions)
    folder = os.path.dirname(torch.__file__) + "/"
    claimed = {function.__name__: function.__code__.co_filename.removeprefix(folder) for function in (method, save)}
    return {"claimed": claimed, "foreign": [function.__name__ for function in functions if not function.__code__.co_filename.startswith(folder)],
            "names": [method.__name__, method.__qualname__, method.__module__, method.__doc__, save.__name__, save.__module__, save.__doc__],
            "save": torch.save is torch.serialization.save, "main": sorted(vars(sys.modules["__main__"]).keys() & {"install", "addresses"}),
            "modules": [name for name in sys.modules if "traceinject" in name]}


def scene_fork(options, torch):
    """A child that goes on training reports nothing and comes to no harm."""
    child = os.fork()
    if child == 0:
        train(options, torch)
        torch.save(1, "truth.child")
        gc.collect()
        os._exit(7)
    _, status = os.waitpid(child, 0)
    return {"child": os.waitstatus_to_exitcode(status), **train(options, torch)}


def scene_threads(options, torch):
    """Two loaders on two threads."""
    measured = [None, None]

    def run(index):
        waits = []
        loader = torch.utils.data.DataLoader(Dataset(40, 300), batch_size=4 + index)
        run_pass(loader, [], waits)
        measured[index] = (threading.get_native_id(), sum(ns for _, ns in waits), len(waits))

    threads = [threading.Thread(target=run, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"threads": measured}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scene", default="plain")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--context", default="fork")
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--items", type=int, default=80)
    parser.add_argument("--item-us", type=int, default=1500)
    parser.add_argument("--optimizers", type=int, default=1)
    parser.add_argument("--gpu-first", action="store_true", help="CUDA is initialised before torch is imported")
    parser.add_argument("--break", dest="broken", action="append", default=[], help="module:attribute to remove before the recording starts")
    parser.add_argument("--never-hooked", action="store_true", help="do not wait for the patches")
    options = parser.parse_args()
    if options.gpu_first:
        use_gpu()
        time.sleep(0.3)
    import torch
    if options.scene == "old":
        del torch.optim.optimizer.register_optimizer_step_post_hook
        del sys.modules["torch.compiler"]
    for target in options.broken:
        module, _, attribute = target.partition(":")
        delattr(sys.modules[module], attribute)
    if not options.gpu_first:
        use_gpu()
    if options.never_hooked:
        time.sleep(0.3)
    elif not wait_until_hooked():
        sys.exit("never hooked")
    print(json.dumps(globals()["scene_" + options.scene](options, torch)))


if __name__ == "__main__":
    main()
