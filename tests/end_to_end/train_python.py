# SPDX-License-Identifier: Apache-2.0
"""Training as a PyTorch program does it, on the stand-in for PyTorch and the fake GPU; prints what it measured itself as JSON.

With a parameter it plays one of the scenes below instead. torch is found through PYTHONPATH.
"""

import argparse
import collections
import ctypes
import gc
import json
import os
import pickle
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
            and hasattr(sys.modules["torch"].save, "__wrapped__")
            and hasattr(sys.modules["torch.nn.functional"].scaled_dot_product_attention, "__wrapped__"))


def wait_until_hooked(hooked=is_hooked, limit_s=20):
    end = time.monotonic() + limit_s
    while not hooked() and time.monotonic() < end:
        time.sleep(0.001)
    return hooked()


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


def scene_distributed_checkpoint(options, torch):
    import torch.distributed.checkpoint as checkpoint
    assert wait_until_hooked(lambda: hasattr(checkpoint.save, "__wrapped__"))
    checkpoint.save(1, checkpoint_id="truth.saved")
    checkpoint.async_save(1, checkpoint_id="truth.saved").result()
    return {"docs": checkpoint.save.__doc__, "same": checkpoint.save is checkpoint.state_dict_saver.save}


def scene_attention(options, torch):
    """One call after another, each with other sizes, and all of them again; what the program measures of each."""
    measured = attention_calls(torch)
    first = len(measured["calls"])
    asked = torch._C.wrapped_asked
    measured["calls"] += attention_calls(torch)["calls"]
    attention = torch.nn.functional.scaled_dot_product_attention
    return {**measured, "names": [attention.__name__, attention.__module__, attention.__doc__],
            "pickled": pickle.loads(pickle.dumps(attention)) is attention, "builtin": torch.jit._builtins._find_builtin(attention),
            "asked_by_torch": 4, "first": first, "wrapped_asked": [asked, torch._C.wrapped_asked - asked],
            "addresses_asked": torch._C.addresses_asked, "views": torch._dlpack.views}


def attention_calls(torch):
    functional = torch.nn.functional
    functional.grad_enabled = True
    calls = []

    def call(sizes, key=None, value=None, make=torch.Tensor, dtype=torch.bfloat16, **more):
        tensors = [make(*size, dtype=dtype) for size in (sizes, key or sizes, value or key or sizes)]
        start = time.time_ns()
        result = functional.scaled_dot_product_attention(*tensors, **more)
        calls.append((start, time.time_ns()))
        return result

    call((2, 8, 128, 64))
    call((2, 8, 128, 64), is_causal=1)
    call((2, 8, 128, 63), key=(2, 2, 256, 63), value=(2, 2, 256, 32), is_causal=True)
    call((4, 16, 8), dtype=torch.float16, make=torch.nn.Parameter)
    call((3, 8, 128, 64), dtype=torch.float32)
    functional.grad_enabled = False
    call((5, 8, 128, 64))
    call((6, 1, 8, 128, 64), key=(1, 1, 8, 128, 64))  # repeated along the batch
    call((2, 1, 1, 8, 128, 64))  # more dimensions than are the rule
    seen = []
    torch._C.function_modes.append(seen)
    torch._C.tell_library()
    call((7, 8, 128, 64))
    inside_mode = seen.count("shape")
    torch._C.function_modes.clear()
    torch._C.tell_library()

    torch.compiler.compiling = True
    call((2, 8, 128, 64))
    torch.compiler.compiling = False
    torch._C.tracing = "trace"
    torch._C.tell_library()
    call((2, 8, 128, 64))
    torch._C.tracing = None
    torch._C.tell_library()

    class Subclass(torch.Tensor):
        pass

    call((2, 8, 128, 64), make=Subclass)
    call((2, 8, 128, 64), make=lambda *sizes, dtype: torch.Tensor(*sizes, dtype=dtype, is_cuda=False))
    torch.Tensor.wrapped = True
    torch._C.tell_library(functorch=True)
    call((2, 8, 128, 64))
    torch.Tensor.wrapped = False
    torch._C.tell_library()
    torch.Tensor.is_nested = True
    call((2, 8, 128, 64))
    torch.Tensor.is_nested = False
    error = ""
    try:
        call((106, 8, 128, 64), key=(106, 8, 128, 32))
    except RuntimeError as raised:
        error = str(raised)
    return {"calls": calls, "error": error, "asked_in_mode": inside_mode}


def scene_flash_attention(options, torch):
    import flash_attn
    from flash_attn import flash_attn_interface as interface
    assert wait_until_hooked(lambda: hasattr(interface.FlashAttnVarlenFunc.forward, "__wrapped__"))
    tensor = torch.Tensor
    q, k, starts = tensor(2, 128, 8, 64), tensor(2, 256, 2, 64), tensor(3)
    outcomes = []
    packed = tensor(400, 8, 64)
    for out, backward in (flash_attn.flash_attn_func(q, k, k, True), flash_attn.flash_attn_qkvpacked_func(tensor(3, 32, 3, 4, 16)),
                          flash_attn.flash_attn_kvpacked_func(tensor(4, 32, 8, 16), tensor(4, 64, 2, 2, 16)),
                          flash_attn.flash_attn_varlen_func(tensor(300, 8, 64), packed, packed, starts, starts, 9, 9)):
        outcomes += [out, backward()]
    torch.compiler.compiling = True
    flash_attn.flash_attn_func(q, k, k)[1]()
    torch.compiler.compiling = False
    return {"outcomes": outcomes}


class Images(Dataset):
    def __getitem__(self, index):
        torch = sys.modules["torch"]
        return torch.Tensor(3, 32, 32), index


def stack(items):
    torch = sys.modules["torch"]
    return {"index": [index for _, index in items], "image": [torch.Tensor(len(items), 3, 32, 32), torch.Tensor(99)]}


def scene_samples(options, torch):
    """Batches of several kinds; the last of each pass is smaller."""
    for collate in (stack, lambda items: collections.UserDict(stack(items)), list, lambda items: "text"):
        for _ in torch.utils.data.DataLoader(Images(10, 0), batch_size=4, collate_fn=collate):
            pass
    return {}


def scene_own_containers(options, torch):
    """Batches in containers of the program's own classes, which note that they are asked for something."""
    asked = []

    class OwnDict(dict):
        def values(self):
            asked.append("dict.values")
            return super().values()

        def __iter__(self):
            asked.append("dict.__iter__")
            return super().__iter__()

    class OwnUserDict(collections.UserDict):
        def __getattribute__(self, name):
            asked.append(f"UserDict.{name}")
            return super().__getattribute__(name)

    class OwnList(list):
        def __iter__(self):
            asked.append("list.__iter__")
            return super().__iter__()

    class Proxy:
        @property
        def __class__(self):
            asked.append("Proxy.__class__")
            return dict

    def user_dict(items):
        made = OwnUserDict(stack(items))
        asked.clear()
        return made

    for collate in (lambda items: OwnDict(stack(items)), user_dict, lambda items: OwnList(stack(items)["image"]), lambda items: Proxy()):
        for _ in torch.utils.data.DataLoader(Images(4, 0), batch_size=4, collate_fn=collate):
            pass
    return {"asked": asked}


def scene_allocator(options, torch):
    optimizer = torch.optim.SGD()
    optimizer.step()
    before = len(torch._C.devices_asked)
    torch.cuda._initialized = True
    for _ in range(50):
        optimizer.step()
    return {"before": before}


def scene_windows(options, torch):
    """Steps that can be told apart in a recording: each sets as many bytes as its number. The time around each; --items of them."""
    runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20))
    optimizer, times = torch.optim.SGD(), []
    for step in range(1, options.items + 1):
        start = time.time_ns()
        runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(step), None)
        runtime.cudaDeviceSynchronize()
        times.append((start, time.time_ns()))
        time.sleep(options.item_us * 1e-6)
        optimizer.step()
    return {"times": times}


class KernelCode(ctypes.Structure):
    """What the fake runtime takes for a function (program.h of the fake GPU)."""

    _fields_ = [("magic", ctypes.c_uint64), ("name", ctypes.c_char_p), ("duration_ns", ctypes.c_int64), ("registers", ctypes.c_int32),
                ("static_shared_bytes", ctypes.c_int32), ("local_bytes", ctypes.c_uint32)]


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]


def scene_proton(options, torch):
    """Kernels before, during and after sessions of Triton's Proton, which --sessions names; the time of each phase."""
    import triton.profiler as proton
    from triton.profiler import start  # before it is hooked
    module = sys.modules["triton.profiler.profile"]
    if not options.never_hooked:
        assert wait_until_hooked(lambda: hasattr(module.libproton.start, "__wrapped__"))
    runtime, one = ctypes.CDLL("libcudart.so.13"), Dim3(1, 1, 1)
    kernel = KernelCode(0x4B45524E454C4B31, b"a_kernel", 10_000, 32, 0, 0)
    phases, optimizer = [], torch.optim.SGD()

    def work(phase):
        begin = time.time_ns()
        for _ in range(30):
            runtime.cudaLaunchKernel(ctypes.byref(kernel), one, one, None, ctypes.c_size_t(0), None)
            runtime.cudaDeviceSynchronize()
            time.sleep(0.01)
            optimizer.step()
        phases.append((phase, begin, time.time_ns()))

    work("before")
    for session in options.sessions.split(","):
        if session == "broken":
            try:
                start("profile", backend="broken")
            except RuntimeError as error:
                phases.append((str(error), 0, 0))
        elif session == "two":
            first, second = proton.start("first"), start("second")
            proton.finalize(first)
            work("proton")
            proton.finalize(second)
        elif session == "unfinished":
            start("profile")
            work("proton")
            return {"phases": phases}
        else:
            start("profile", backend=None if session == "one" else session)
            work("proton")
            proton.finalize()
        work("after")
    return {"phases": phases}


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
    parser.add_argument("--sessions", default="one", help="of Triton's Proton: one, two (at once), broken, unfinished, or a backend; with commas")
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
