# SPDX-License-Identifier: Apache-2.0
# What runs inside the program's interpreter: marks waits for data, optimizer steps, checkpoints and garbage collections.
#
# Embedded in the library at build time. start.cc compiles it once torch is loaded, runs it in a dictionary of its own, and calls
# install() until nothing is left to do. Reports go through C functions (reports.h) whose addresses are in `addresses`; they
# neither block nor touch the interpreter, so they are called without giving up the GIL, and they do nothing in forked children
# and once the recording ended.
#
# Rules: never import torch, never print, never keep the program's objects alive. An error of ours (Exception) ends here. What the
# program's signal handlers raise while we run (KeyboardInterrupt, SystemExit) is the program's and passes.
#
# torch.compile traces what it inlines, and frames that run inside a compiled region. So is_compiling() comes first everywhere,
# functions that it may inline read no globals (it would import the module that they name), and all code claims to be in torch's
# folder (the script as a whole) or below the file of the function that it stands for or is called by: the path decides whether a
# frame is compiled, inlined or skipped.
#
# Limits: `from torch import save` before the patch keeps the unmarked function. A step inside a compiled region is not marked.
# While the main thread stays in C (a program that trains on another thread and joins it), the interpreter makes no pending call.
import ctypes
import functools
import gc
import itertools
import os
import sys
import time
import types
import weakref
from _thread import get_ident

CHECKPOINT, COLLECTION = 1, 2  # host_span.kind
SHORTEST_YOUNG_COLLECTION_NS = 100_000  # shorter ones of generation 0 are many and explain nothing
MOST_LOADERS = 4096
AGAIN = 256  # in what install() returns: some module is not loaded yet


def make_install(addresses, modules=sys.modules, clock=time.time_ns):
    number = ctypes.c_longlong
    report_loader = ctypes.PYFUNCTYPE(None, *[number] * 6)(addresses[0])
    report_wait = ctypes.PYFUNCTYPE(None, *[number] * 4)(addresses[1])
    report_step = ctypes.PYFUNCTYPE(None, *[number] * 2)(addresses[2])
    report_span = ctypes.PYFUNCTYPE(None, *[number] * 4)(addresses[3])
    report_worker = ctypes.PYFUNCTYPE(None, *[number] * 2)(addresses[4])

    def find_is_compiling():
        found = getattr(modules.get("torch.compiler"), "is_compiling", None)
        if found is not None:
            return found

        def compiling():  # torch before 2.1, or without a compiler
            found = getattr(modules.get("torch._dynamo"), "is_compiling", None)
            return found is not None and found()

        return compiling

    def is_ours(function):
        return getattr(function, "__traceinject__", False)

    def claim(function, module):
        # Begins as the module's own path does, with which torch.compile compares the beginnings of its lists.
        place = os.path.splitext(module.__file__)[0]
        function.__code__ = function.__code__.replace(co_filename=os.path.join(place, "<traceinject>"))
        function.__traceinject__ = True
        return function

    def dress(wrapper, original, module):
        """`wrapper` looks like `original`, which it keeps as __wrapped__."""
        return claim(functools.update_wrapper(wrapper, original), module)

    def hook_loader(module, compiling):
        iterator = module._BaseDataLoaderIter
        original = iterator.__dict__["__next__"]
        if is_ours(original):
            return
        numbers = {}  # the identity of the sampler and the settings -> number

        def known(value):
            return value if isinstance(value, int) and value >= 0 else -1

        def number_of(self):
            # An iterator does not know its loader; the sampler that tells the indices is the loader's, for all its passes.
            sampler = getattr(self, "_index_sampler", None)
            workers = int(getattr(self, "_num_workers", 0))
            settings = (workers, int(bool(getattr(self, "_pin_memory", False))),
                        int(bool(getattr(self, "_persistent_workers", False))),
                        known(getattr(self, "_prefetch_factor", None)) if workers else -1,
                        known(getattr(sampler, "batch_size", None)) if getattr(self, "_auto_collation", True) else -1)
            key = (id(sampler), settings)
            if key not in numbers and len(numbers) >= MOST_LOADERS:
                return 0
            found = numbers.setdefault(key, len(numbers) + 1)
            report_loader(found, *settings)
            for worker in getattr(self, "_workers", ()):
                pid = getattr(worker, "pid", None)
                if isinstance(pid, int):
                    report_worker(pid, found)
            return found

        def describe_and_report(self, start, end, has_batch):
            try:
                loader = getattr(self, "_traceinject_loader", None)
                if loader is None:
                    loader = self._traceinject_loader = number_of(self)
                yielded = getattr(self, "_num_yielded", 0) if has_batch else 0
                report_wait(start, end, loader, yielded - 1)
            except Exception:
                pass

        def __next__(self):
            if compiling():
                return original(self)
            start = clock()
            try:
                batch = original(self)
            except BaseException:
                # The end of a pass (workers are joined in it) and errors are waits, too, without a batch.
                describe_and_report(self, start, clock(), False)
                raise
            end = clock()
            try:
                report_wait(start, end, self._traceinject_loader, self._num_yielded - 1)
            except Exception:
                describe_and_report(self, start, end, True)
            return batch

        iterator.__next__ = dress(__next__, original, module)

    def hook_optimizer(module, compiling):
        numbers = {}  # id of an optimizer -> (weak reference, number)
        counter = itertools.count(1)

        def mark(optimizer):
            try:
                entry = numbers.get(id(optimizer))
                if entry is None or entry[0]() is not optimizer:
                    entry = numbers[id(optimizer)] = (weakref.ref(optimizer), next(counter))
                report_step(clock(), entry[1])
            except Exception:
                pass

        register = getattr(module, "register_optimizer_step_post_hook", None)
        if register is None:
            return wrap_steps(module, compiling, mark)
        if any(is_ours(hook) for hook in getattr(module, "_global_optimizer_post_hooks", {}).values()):
            return None

        def after_step(optimizer, args, kwargs):
            if compiling():
                return
            mark(optimizer)

        register(claim(after_step, module))
        return None

    def wrap_steps(module, compiling, mark):
        """Before torch 2.1: wraps the step of every class of optimizers, those of later classes when an object is made."""
        base, stepping = module.Optimizer, set()

        def wrap(owner):
            original = owner.__dict__.get("step")
            if owner is base or not isinstance(original, types.FunctionType) or is_ours(original):
                return

            def step(self, *args, **kwargs):
                if compiling() or id(self) in stepping:  # the step of a base class inside a step is no step
                    return original(self, *args, **kwargs)
                stepping.add(id(self))
                try:
                    result = original(self, *args, **kwargs)
                finally:
                    stepping.discard(id(self))
                mark(self)
                return result

            owner.step = dress(step, original, module)

        def wrap_all(owner):
            wrap(owner)
            for derived in owner.__subclasses__():
                wrap_all(derived)

        original_init = base.__init__
        if is_ours(original_init):
            return

        def __init__(self, *args, **kwargs):
            original_init(self, *args, **kwargs)
            try:
                for owner in type(self).__mro__:
                    wrap(owner)
            except Exception:
                pass

        wrap_all(base)
        base.__init__ = dress(__init__, original_init, module)

    def hook_save(module, compiling):
        original = module.save
        if is_ours(original):
            return
        saving = set()  # threads that are inside it: a save inside a save is part of it

        def save(*args, **kwargs):
            if compiling():
                return original(*args, **kwargs)
            thread = get_ident()
            if thread in saving:
                return original(*args, **kwargs)
            saving.add(thread)
            start = clock()
            try:
                return original(*args, **kwargs)
            finally:
                saving.discard(thread)
                try:
                    report_span(start, clock(), CHECKPOINT, -1)
                except Exception:
                    pass

        dress(save, original, module)
        torch = modules["torch"]
        if getattr(torch, "save", None) is original:
            torch.save = save
        module.save = save

    def hook_collector(module, compiling):
        if any(is_ours(callback) for callback in gc.callbacks):
            return
        begun = [0]  # one collection at a time, in all threads

        def on_collection(phase, info):
            try:
                if phase == "start":
                    begun[0] = clock()
                    return
                start, begun[0] = begun[0], 0
                end = clock()
                generation = info["generation"]
                if start and (generation or end - start >= SHORTEST_YOUNG_COLLECTION_NS):
                    report_span(start, end, COLLECTION, generation)
            except Exception:
                pass

        on_collection.__traceinject__ = True
        gc.callbacks.append(on_collection)

    parts = [("torch.utils.data.dataloader", hook_loader), ("torch.optim.optimizer", hook_optimizer),
             ("torch.serialization", hook_save), ("torch", hook_collector)]
    state = {"installed": 0, "failed": 0}

    def is_loaded(name):
        module = modules.get(name)
        return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)

    def install():
        """Returns the parts in place (bits from 0), those that failed (bits from 4), and AGAIN if there is more to do."""
        if not is_loaded("torch"):
            return AGAIN
        compiling = find_is_compiling()
        again = 0
        for index, (name, hook) in enumerate(parts):
            bit = 1 << index
            if (state["installed"] | state["failed"]) & bit:
                continue
            if not is_loaded(name):
                again = AGAIN
                continue
            try:
                hook(modules[name], compiling)
                state["installed"] |= bit
            except Exception:
                state["failed"] |= bit
        return state["installed"] | state["failed"] << 4 | again

    return install


install = make_install(addresses)  # noqa: F821 - put into the dictionary by start.cc
