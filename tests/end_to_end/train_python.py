# SPDX-License-Identifier: Apache-2.0
"""Training as a PyTorch program does it, on the stand-in for PyTorch and the fake GPU; prints what it measured itself as JSON.

With a parameter it plays one of the scenes below instead. torch is found through PYTHONPATH.
"""

import argparse
import collections
import ctypes
import gc
import importlib
import json
import os
import pickle
import sys
import threading
import time
import warnings

import watched


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


def wait_until_hooked(*more):
    torch = sys.modules["torch"]
    return watched.wait_until_watched(*more or (
        torch.utils.data.dataloader._BaseDataLoaderIter.__next__, torch._C._nn.scaled_dot_product_attention,
        vars(torch._C.PyTorchFileWriter)["write_end_of_file"], torch._C._log_api_usage_once))


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


def scene_later_class(options, torch):
    """One class is there before the hooks, one comes later and calls the first one's step."""
    early = torch.optim.SGD()

    class Later(torch.optim.SGD):
        def step(self):
            return super().step()

    optimizers = [early, Later()]
    waits = []
    loader = torch.utils.data.DataLoader(Dataset(40, 10), batch_size=4)
    steps = 2 * run_pass(loader, optimizers, waits)
    return {"waits": waits, "steps": steps}


def scene_many_optimizers(options, torch):
    """One for each parameter; and half of them go, and others come."""
    optimizers = [torch.optim.SGD() for _ in range(20)]
    for optimizer in optimizers:
        optimizer.step()
    del optimizers[:10], optimizer
    for optimizer in [torch.optim.SGD() for _ in range(5)]:
        optimizer.step()
    return {}


def scene_compiler(options, torch):
    """What torch.compile was told to skip."""
    train(options, torch)
    folder = os.path.dirname(torch.__file__) + "/"
    return {"files": sorted({code.co_filename.replace(folder, "") for code in torch._C.codes_skipped}),
            "names": sorted({code.co_name for code in torch._C.codes_skipped})}


def scene_unchanged(options, torch):
    """What changed in modules and classes since before the recording; what is observed; and what the program's observers saw."""
    torch.utils.data.dataloader._BaseDataLoaderIter, torch.optim.SGD()
    train(options, torch)
    seen = set()
    sys.setprofile(lambda frame, event, arg: seen.add(frame.f_code.co_filename.rpartition("/")[2]))
    train(options, torch)
    torch.save(1, "truth.saved")
    sys.setprofile(None)
    sys.settrace(lambda frame, event, arg: seen.add(frame.f_code.co_filename.rpartition("/")[2]))
    train(options, torch)
    sys.settrace(None)
    attention_calls(torch)
    gc.collect()
    optimizer, batches = torch.optim.SGD(), iter(torch.utils.data.DataLoader(Dataset(8, 10), batch_size=4))
    options.held += [optimizer, batches, optimizer.step(), next(batches)]
    return {"changed": watched.changed_since(options.before), "watched": watched.watched_functions(), "traced": sorted(seen)}


def frames():
    """Names of the functions that lead here."""
    frame, found = sys._getframe(1), []
    while frame:
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


def scene_frames(options, torch):
    """No frame comes between a function and who called it, also in tracebacks and warnings."""
    import traceback
    told = {}

    class Failing(Dataset):
        def __getitem__(self, index):
            told.setdefault("loader", frames())
            raise ValueError("planned")

    try:
        next(iter(torch.utils.data.DataLoader(Failing(4, 0), batch_size=4)))
    except ValueError as error:
        told["traceback"] = [frame.name for frame in traceback.extract_tb(error.__traceback__)]

    class Warning(torch.optim.SGD):
        def step(self):
            told.setdefault("step", frames())
            warnings.warn("planned", stacklevel=3)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Warning().step()
    told["warned"] = [os.path.basename(warning.filename) for warning in caught]
    return told


def scene_identity(options, torch):
    """A subclass of tensors is told the function that the program knows, and may make the call in another way."""
    attention = torch.nn.functional.scaled_dot_product_attention
    told = []

    class Told(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            told.append(function is attention)
            plain = [torch.Tensor(*tensor.sizes) for tensor in args]
            return function(*plain, **kwargs) if told[0] else None

    tensors = [Told(2, 8, 128, 64) for _ in range(3)]
    for _ in range(2):
        attention(*tensors)
    return {"told": told}


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
    assert options.never_hooked or wait_until_hooked(checkpoint.save.__wrapped__)
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
    torch._C.grad_enabled = True
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
    torch._C.grad_enabled = False
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
    assert options.never_hooked or wait_until_hooked(interface.FlashAttnVarlenFunc.backward)
    tensor = torch.Tensor
    q, k, starts = tensor(2, 128, 8, 64), tensor(2, 256, 2, 64), tensor(3)
    outcomes = []
    packed = tensor(400, 8, 64)
    for out, backward in (flash_attn.flash_attn_func(q, k, k, True), flash_attn.flash_attn_qkvpacked_func(tensor(3, 32, 3, 4, 16)),
                          flash_attn.flash_attn_kvpacked_func(tensor(4, 32, 8, 16), tensor(4, 64, 2, 2, 16)),
                          flash_attn.flash_attn_varlen_func(tensor(300, 8, 64), packed, packed, starts, starts, 9, 9)):
        outcomes += [out, backward()]
        options.held.append(backward)
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


def scene_smaller_batches(options, torch):
    """Sizes of batches that are said to be of 4: one is smaller on its way, or the first one is."""
    for sizes in ((4, 4, 3, 2, 4), (3, 4, 3, 3, 4)):
        sampler = torch.utils.data.dataloader.BatchSampler(20, 4)
        left = list(sizes)
        for _ in torch.utils.data.DataLoader(Images(20, 0), batch_sampler=sampler,
                                             collate_fn=lambda items: torch.Tensor(left.pop(0), 3, 32, 32)):
            pass
    return {}


def scene_own_samplers(options, torch):
    """Samplers of the program's own classes, which note that they are asked for something; others draw their order anew then."""
    asked = []

    class Sampler:
        def __len__(self):
            asked.append("Sampler.__len__")
            return 10

    class Batches(torch.utils.data.dataloader.BatchSampler):
        def __init__(self):
            super().__init__(10, 4)
            self.sampler = Sampler()

        def __len__(self):
            asked.append("Batches.__len__")
            return 3

        def __bool__(self):
            return True

    class Computed:
        @property
        def batch_size(self):
            asked.append("Computed.batch_size")
            return 4

        def __getattr__(self, name):
            asked.append(f"Computed.{name}")
            raise AttributeError(name)

        def __iter__(self):
            return iter(torch.utils.data.dataloader.BatchSampler(10, 4))

    class Slotted:
        __slots__ = ()

        def __iter__(self):
            return iter(torch.utils.data.dataloader.BatchSampler(10, 4))

    for sampler in (Batches(), Computed(), Slotted()):
        for _ in torch.utils.data.DataLoader(Images(10, 0), batch_sampler=sampler, collate_fn=stack):
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
        assert wait_until_hooked(module.libproton.start)
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


def scene_fork(options, torch):
    """A child that goes on training reports nothing and comes to no harm."""
    warnings.simplefilter("ignore", DeprecationWarning)  # since 3.12 of a fork where there are threads, of which ours are some
    child = os.fork()
    if child == 0:
        train(options, torch)
        torch.save(1, "truth.child")
        gc.collect()
        os._exit(7)
    _, status = os.waitpid(child, 0)
    return {"child": os.WEXITSTATUS(status), **train(options, torch)}


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
    parser.add_argument("--tell-touched", action="store_true", help="what is observed, changed and referenced, as JSON to the standard error")
    parser.add_argument("--import", dest="imported", action="append", default=[], help="a module, beside torch, before the recording starts")
    parser.add_argument("--never-hooked", action="store_true", help="do not wait for the patches")
    options = parser.parse_args()
    if options.gpu_first:
        use_gpu()
        time.sleep(0.3)
    import torch
    for target in options.broken:
        module, _, attribute = target.partition(":")
        delattr(sys.modules[module], attribute)
    for name in options.imported:
        importlib.import_module(name)
    options.before, options.held = watched.snapshot(), []
    if not options.gpu_first:
        use_gpu()
    if options.never_hooked:
        time.sleep(0.3)
    elif not wait_until_hooked():
        sys.exit("never hooked")
    print(json.dumps(globals()["scene_" + options.scene](options, torch)))
    if options.tell_touched:
        told = {"watched": watched.watched_functions(), "changed": watched.changed_since(options.before),
                "referenced": watched.weakly_referenced(), "skipped": len(torch._C.codes_skipped)}
        print(json.dumps(told), file=sys.stderr)


if __name__ == "__main__":
    main()
