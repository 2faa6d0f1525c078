# SPDX-License-Identifier: Apache-2.0
# What runs inside the program's interpreter: marks waits for data, optimizer steps, checkpoints, garbage collections and attention
# calls, samples PyTorch's allocator, and makes room for Triton's Proton.
#
# Embedded in the library at build time. start.cc compiles it once torch is loaded, runs it in a dictionary of its own, and calls
# install() until nothing is left to do. Reports go through the functions in `reports` (report_functions.h), which take integers;
# they do not block, so that the GIL is kept, and do nothing in forked children and once the recording ended.
#
# Rules: never import torch, never print, never keep the program's objects alive, never wait for the GPU. An error of ours (Exception)
# ends here. What the program's signal handlers raise while we run (KeyboardInterrupt, SystemExit) is the program's and passes.
#
# torch.compile traces what it inlines, and frames that run inside a compiled region. So is_compiling() comes first everywhere,
# functions that it may inline read no globals (it would import the module that they name), and all code claims to be in torch's
# folder (the script as a whole, in a part of it that is never compiled) or below the file of the function that it stands for or is
# called by: the path decides whether a frame is compiled, inlined or skipped.
#
# Tensors: only plain ones are asked for their shape (a subclass would run the program's code, a traced or fake one would note the
# question), and no mode that sees calls of torch's functions sees ours.
#
# Limits: `from torch import save` before the patch keeps the unmarked function, `from torch.nn.functional import
# scaled_dot_product_attention` likewise. A step or an attention call inside a compiled region is not marked.
# While the main thread stays in C (a program that trains on another thread and joins it), the interpreter makes no pending call.
import functools
import gc
import itertools
import os
import shutil
import sys
import tempfile
import time
import types
import weakref
from collections import UserDict
from _thread import get_ident

CHECKPOINT, COLLECTION = 1, 2  # host_span.kind
SHORTEST_YOUNG_COLLECTION_NS = 100_000  # shorter ones of generation 0 are many and explain nothing
MOST_LOADERS = 4096
MOST_SHAPES = 65536  # of attention calls; those of later ones stay unknown
ALLOCATOR_PERIOD_NS = 1_000_000_000
TORCH_ATTENTION, FLASH_ATTENTION = 1, 2  # attention_shape.library
FORWARD, BACKWARD = 1, 2  # attention.direction
LONGEST_WAIT_FOR_ROOM_S = 2
PROTONS_CUPTI = "TRITON_CUPTI_LIB_PATH"  # the folder in which it looks for libcupti.so


def loaded_libraries(prefix):
    """Paths of the libraries in this process whose names begin so."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line[line.index("/"):].rstrip("\n") for line in maps if "/" in line}
    return [path for path in paths if os.path.basename(path).startswith(prefix)]


def make_install(reports, modules=sys.modules, clock=time.time_ns):
    report_loader, report_wait, report_step, report_span, report_worker, report_shape, report_attention, report_allocator = (
        reports["report_" + name] for name in ("loader", "wait", "step", "span", "worker", "shape", "attention", "allocator"))
    make_attention_marker, ask_for_room = reports["make_attention_marker"], reports["ask_for_room"]

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

    def make_unseen(torch):
        """Calls a function with arguments such that the program's torch function modes do not see what it asks tensors for."""
        modes = getattr(torch._C, "_len_torch_function_stack", None)
        can_hide = hasattr(torch._C, "DisableTorchFunctionSubclass")  # since 2.0 the other guard hides from modes, too
        hide = getattr(torch._C, "DisableTorchFunction", None)

        def unseen(function, *args):
            """None: they cannot be kept from seeing it."""
            if modes is None or not modes():
                return function(*args)
            if not can_hide:
                return None
            with hide():
                return function(*args)

        return unseen

    def make_samples_of(torch):
        tensor = torch.Tensor
        unseen = make_unseen(torch)

        def parts_of(batch, bases):
            """Of a container, without running the program's code: a class of its own may load or draw what it is asked for."""
            if UserDict in bases:
                batch = object.__getattribute__(batch, "__dict__").get("data")
                bases = type(batch).__mro__
            if dict in bases:
                return dict.values(batch)
            if list in bases:
                return list.__iter__(batch)
            return tuple.__iter__(batch) if tuple in bases else ()

        def first_size(batch, depth):
            """The first dimension of the first tensor; -1: there is none."""
            kind = type(batch)
            if kind is tensor:
                return batch.shape[0] if batch.dim() and not batch.is_nested else -1
            if not depth:
                return -1
            for part in itertools.islice(parts_of(batch, kind.__mro__), 4):
                found = first_size(part, depth - 1)
                if found >= 0:
                    return found
            return -1

        def samples_of(iterator, batch):
            """-1: unknown. Where the loader knows the size of its batches, a tensor with another one is no batch of samples."""
            found = unseen(first_size, batch, 3)
            if found is None or found < 0:
                return -1
            sampler = iterator._index_sampler
            size = getattr(sampler, "batch_size", None) if iterator._auto_collation else None
            if size is None or found == size:
                return found
            # The last one may be smaller.
            return found if found == len(sampler.sampler) - (iterator._num_yielded - 1) * size else -1

        return samples_of

    def hook_loader(module, compiling):
        samples_of = make_samples_of(modules["torch"])
        iterator = module._BaseDataLoaderIter
        original = iterator.__dict__["__next__"]
        if is_ours(original):
            return
        numbers = {}  # the identity of the sampler and the settings -> number
        counter = itertools.count(1)  # also where threads are not kept apart by a lock, no number is given twice

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
            found = numbers.get(key)
            if found is None:
                if len(numbers) >= MOST_LOADERS:
                    return 0
                found = numbers.setdefault(key, next(counter))
            report_loader(found, *settings)
            for worker in getattr(self, "_workers", ()):
                pid = getattr(worker, "pid", None)
                if isinstance(pid, int):
                    report_worker(pid, found)
            return found

        def samples_or_unknown(self, batch):
            try:
                return samples_of(self, batch)
            except Exception:
                return -1

        def describe_and_report(self, start, end, samples, has_batch):
            try:
                loader = getattr(self, "_traceinject_loader", None)
                if loader is None:
                    loader = self._traceinject_loader = number_of(self)
                yielded = getattr(self, "_num_yielded", 0) if has_batch else 0
                report_wait(start, end, loader, yielded - 1, samples)
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
                describe_and_report(self, start, clock(), -1, False)
                raise
            end = clock()
            samples = samples_or_unknown(self, batch)
            try:
                report_wait(start, end, self._traceinject_loader, self._num_yielded - 1, samples)
            except Exception:
                describe_and_report(self, start, end, samples, True)
            return batch

        iterator.__next__ = dress(__next__, original, module)

    def make_sample_allocator(torch):
        due = [0]
        statistics = getattr(torch._C, "_cuda_memoryStats", None)

        def devices():
            backend = getattr(torch._C, "_cuda_getAllocatorBackend", None)
            if backend is None or backend() == "native":
                return range(torch._C._cuda_getDeviceCount())
            return [torch._C._cuda_getDevice()]  # others may make a context on each device that they are asked about

        def sample_allocator(now):
            cuda = modules.get("torch.cuda")
            if now < due[0] or statistics is None or not getattr(cuda, "_initialized", False):
                return
            due[0] = now + ALLOCATOR_PERIOD_NS
            for device in devices():
                found = statistics(device)
                allocated, reserved = (found[name]["all"] for name in ("allocated_bytes", "reserved_bytes"))
                if reserved["peak"]:
                    report_allocator(now, device, allocated["current"], reserved["current"], found["active_bytes"]["all"]["current"],
                                     allocated["peak"], reserved["peak"], found["num_alloc_retries"], found["num_ooms"])

        return sample_allocator

    def hook_optimizer(module, compiling):
        numbers = {}  # id of an optimizer -> (weak reference, number)
        counter = itertools.count(1)
        sample_allocator = make_sample_allocator(modules["torch"])

        def mark(optimizer):
            try:
                entry = numbers.get(id(optimizer))
                if entry is None or entry[0]() is not optimizer:
                    entry = numbers[id(optimizer)] = (weakref.ref(optimizer), next(counter))
                now = clock()
                report_step(now, entry[1])
                sample_allocator(now)
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

    saving = set()  # threads that are inside a save: one inside another is part of it

    def mark_save(original, module, compiling, is_background=None):
        def save(*args, **kwargs):
            if compiling():
                return original(*args, **kwargs)
            thread = get_ident()
            if thread in saving or (is_background is not None and is_background()):
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

        return dress(save, original, module)

    def hook_save(module, compiling):
        original = module.save
        if is_ours(original):
            return
        save = mark_save(original, module, compiling)
        torch = modules["torch"]
        if getattr(torch, "save", None) is original:
            torch.save = save
        module.save = save

    def hook_distributed_save(module, compiling):
        def is_background():
            """Whether async_save's own thread calls, which keeps nobody waiting. Frames: this, save, its caller."""
            name = sys._getframe(2).f_globals.get("__name__") or ""
            return name == "concurrent.futures.thread" or name.startswith("torch.distributed.checkpoint._async")

        package = modules.get("torch.distributed.checkpoint")
        for name in ("save", "async_save", "save_state_dict"):
            original = getattr(module, name, None)
            if original is None or is_ours(original):
                continue
            save = mark_save(original, module, compiling, is_background)
            if getattr(package, name, None) is original:
                setattr(package, name, save)
            setattr(module, name, save)

    shapes = {}  # (the columns of attention_shape) -> number

    def number_of_shape(shape):
        """0: cannot be told."""
        found = shapes.get(shape)
        if found is None:
            found = report_shape(*shape)
            if found:
                found = shapes.setdefault(shape, found)
        return found

    def make_type_codes(torch):
        """As cudaDataType."""
        names = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14, "float8_e4m3fn": 28, "float8_e5m2": 29}
        return {getattr(torch, name): code for name, code in names.items() if hasattr(torch, name)}

    def make_local(torch):
        kinds = (torch.Tensor, torch.nn.Parameter)

        def local(tensor):
            """The tensor whose shape is what this GPU computes; None: that cannot be told."""
            if type(tensor) not in kinds and type(tensor).__name__ == "DTensor":
                tensor = tensor._local_tensor
            return tensor if type(tensor) in kinds else None

        return local

    def make_plain(torch):
        local = make_local(torch)
        wrapped = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)

        def plain(tensor):
            """The same of one in the GPU's memory, with sizes that are all there is to it."""
            tensor = local(tensor)
            if tensor is None or not tensor.is_cuda or tensor.is_nested or (wrapped is not None and wrapped(tensor)):
                return None
            return tensor

        return plain

    def hook_attention(module, compiling):
        original = getattr(module, "scaled_dot_product_attention", None)
        if original is None or is_ours(original):  # there is none before torch 2.0
            return
        torch = modules["torch"]
        codes, local, plain, unseen = make_type_codes(torch), make_local(torch), make_plain(torch), make_unseen(torch)
        is_traced = torch._C._get_tracing_state
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        known = {}  # what describe_shape is given -> number: most calls repeat an earlier one

        def describe_shape(q, k, v, dtype, causal):
            batch = 1
            for size in q[:-3]:
                batch *= size
            if k[:-3] != q[:-3] or v[:-3] != q[:-3]:
                batch = -1  # one of them is repeated
            heads, kv_heads = (q[-3], k[-3]) if len(q) > 2 and len(k) > 2 else (1, 1)
            return (TORCH_ATTENTION, batch, heads, kv_heads, q[-2], k[-2], q[-1], v[-1], codes.get(dtype, -1), int(causal))

        def add_known(given):
            """The number; 0: it cannot be told."""
            number = number_of_shape(describe_shape(*given))
            if number:
                if len(known) >= MOST_SHAPES:
                    known.clear()
                known[given] = number
            return number

        def report(start, end, args, kwargs, result):
            """The number of the call's shape; None: there is nothing to tell of it."""
            whole = plain(result)
            if whole is None:
                return None
            query, key, value = args[:3] if len(args) > 2 else [dict(zip(names, args), **kwargs)[name] for name in names[:3]]
            kind = type(whole)
            if type(query) is not kind or type(key) is not kind or type(value) is not kind:
                query, key, value = local(query), local(key), local(value)
                if query is None or key is None or value is None:
                    return None
            causal = args[5] if len(args) > 5 else kwargs.get("is_causal", False)
            given = query.shape, key.shape, value.shape, whole.dtype, bool(causal)
            number = known.get(given) or add_known(given)
            if number:
                report_attention(start, end, number, FORWARD, int(result.requires_grad))
            return number

        def report_if_untraced(*call):
            return unseen(report, *call) if is_traced() is None else None

        def call_and_mark(*args, **kwargs):
            start = clock()
            result = original(*args, **kwargs)
            end = clock()
            try:
                report_if_untraced(start, end, args, kwargs, result)
            except Exception:
                pass
            return result

        def make_marked():
            """The same at a fraction of the cost, where the interpreter has a lock that keeps calls of C apart."""
            modes = getattr(torch._C, "_len_torch_function_stack", None)
            has_lock = getattr(sys, "_is_gil_enabled", None)
            if modes is None or (has_lock is not None and not has_lock()):
                return call_and_mark
            return make_attention_marker((original, torch.Tensor, modes, is_traced, report_if_untraced))

        marked = make_marked()

        def scaled_dot_product_attention(*args, **kwargs):
            if compiling():
                return original(*args, **kwargs)
            return marked(*args, **kwargs)

        # torch.jit knows functions of C++ by their identity; any other it compiles from its source.
        builtins = modules["torch.jit._builtins"]
        operator = builtins._find_builtin(original)
        dress(scaled_dot_product_attention, original, module)
        scaled_dot_product_attention.__module__ = module.__name__  # where pickle finds it
        if operator is not None:
            builtins._register_builtin(scaled_dot_product_attention, operator)
        module.scaled_dot_product_attention = scaled_dot_product_attention

    def hook_flash_attention(module, compiling):
        """The forward and backward of the package's autograd functions, which all its functions, however imported, go through."""
        torch = modules["torch"]
        codes, plain, unseen = make_type_codes(torch), make_plain(torch), make_unseen(torch)
        elsewhere = ("seqused_q", "seqused_k", "page_table", "block_table")  # the lengths that count are on the GPU

        def layout(tensors):
            """Shapes of queries, keys and values as (..., heads, head size); None: an unknown layout."""
            shapes_given = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
            if "qkv" in shapes_given:
                qkv = shapes_given["qkv"]
                return [qkv[:-3] + qkv[-2:]] * 3 if qkv[-3] == 3 else None
            if "kv" in shapes_given:
                kv = shapes_given["kv"]
                return [shapes_given["q"]] + [kv[:-3] + kv[-2:]] * 2 if kv[-3] == 2 else None
            return [shapes_given[name] for name in "qkv"]

        def describe(given):
            tensors = {name: plain(given[name]) for name in ("q", "k", "v", "qkv", "kv") if name in given}
            if any(tensor is None for tensor in tensors.values()):
                return None
            found = layout(tensors)
            if found is None:
                return None
            q, k, v = found
            known = len(q) == 4 and len(k) == 4 and all(given.get(name) is None for name in elsewhere)
            batch, query_length, key_length = (q[0], q[1], k[1]) if known else (-1, -1, -1)  # sequences packed one behind another
            first = next(iter(tensors.values()))
            return (FLASH_ATTENTION, batch, q[-2], k[-2], query_length, key_length, q[-1], v[-1], codes.get(first.dtype, -1),
                    int(bool(given["causal"])) if "causal" in given else -1)

        def report(start, end, shape, direction):
            number = number_of_shape(shape)
            if number:
                report_attention(start, end, number, direction, -1)

        def mark_forward(original, names):
            def forward(*args):
                if compiling():
                    return original(*args)
                start = clock()
                result = original(*args)
                end = clock()
                try:
                    shape = unseen(describe, dict(zip(names, args)))
                    if shape is not None:
                        report(start, end, shape, FORWARD)
                        args[0]._traceinject_shape = shape
                except Exception:
                    pass
                return result

            return dress(forward, original, module)

        def mark_backward(original):
            def backward(*args):
                if compiling():
                    return original(*args)
                start = clock()
                result = original(*args)
                end = clock()
                try:
                    report(start, end, args[0]._traceinject_shape, BACKWARD)
                except Exception:
                    pass
                return result

            return dress(backward, original, module)

        for owner in list(vars(module).values()):
            if not isinstance(owner, type):
                continue
            methods = [getattr(vars(owner).get(name), "__func__", None) for name in ("forward", "backward")]
            if not all(isinstance(method, types.FunctionType) and not is_ours(method) for method in methods):
                continue
            code = methods[0].__code__
            names = code.co_varnames[:code.co_argcount]
            if {"q", "k", "v"} <= set(names) or "qkv" in names or {"q", "kv"} <= set(names):
                owner.forward = staticmethod(mark_forward(methods[0], names))
                owner.backward = staticmethod(mark_backward(methods[1]))

    def hook_proton(module, compiling):
        """Proton takes CUPTI's records for itself: we leave them to it until its last session is over. And it brings a copy of CUPTI, which
        CUPTI refuses in a process where another copy was used: it gets that one."""
        library = module.libproton  # all of Proton's functions go through it, however they were imported
        if is_ours(library.start):
            return
        sessions = set()

        def uses_cupti(args):
            return any(isinstance(arg, str) and arg.startswith("cupti") for arg in args[1:5])  # after the name, in an order that varies

        def lend_loaded_cupti():
            """Proton is to load the copy of CUPTI that is loaded already. A function that undoes that."""
            try:
                copies = loaded_libraries("libcupti.so")
                if len(copies) != 1:
                    return lambda: None
                folder = tempfile.mkdtemp(prefix="traceinject-")
                os.symlink(copies[0], os.path.join(folder, "libcupti.so"))
            except OSError:
                return lambda: None
            before = os.environ.get(PROTONS_CUPTI)
            os.environ[PROTONS_CUPTI] = folder

            def undo():
                if before is None:
                    del os.environ[PROTONS_CUPTI]
                else:
                    os.environ[PROTONS_CUPTI] = before
                shutil.rmtree(folder, ignore_errors=True)

            return undo

        def ask_and_wait():
            until = time.monotonic() + LONGEST_WAIT_FOR_ROOM_S
            while not ask_for_room(1) and time.monotonic() < until:
                time.sleep(0.001)

        def end(ended):
            sessions.difference_update(ended)
            if not sessions:
                ask_for_room(0)

        def wrap_start(original):
            def start(*args, **kwargs):
                if compiling() or not uses_cupti(args):
                    return original(*args, **kwargs)
                ask_and_wait()
                undo = lend_loaded_cupti()
                try:
                    session = original(*args, **kwargs)
                    sessions.add(session)
                    return session
                finally:
                    undo()
                    end(())

            return start

        def wrap_finalize(original):
            def finalize(session, *args, **kwargs):
                try:
                    return original(session, *args, **kwargs)
                finally:
                    end((session,))

            return finalize

        def wrap_finalize_all(original):
            def finalize_all(*args, **kwargs):
                try:
                    return original(*args, **kwargs)
                finally:
                    end(tuple(sessions))

            return finalize_all

        wrappers = [(name, getattr(library, name), wrap) for name, wrap in
                    (("start", wrap_start), ("finalize", wrap_finalize), ("finalize_all", wrap_finalize_all))]
        for name, original, wrap in wrappers:
            setattr(library, name, dress(wrap(original), original, module))

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
             ("torch.serialization", hook_save), ("torch", hook_collector), ("torch.nn.functional", hook_attention),
             ("flash_attn.flash_attn_interface", hook_flash_attention), ("flash_attn_interface", hook_flash_attention),
             ("torch.distributed.checkpoint.state_dict_saver", hook_distributed_save), ("triton.profiler.profile", hook_proton)]
    again_bit = 1 << 2 * len(parts)  # in what install() returns: some module is not loaded yet
    state = {"installed": 0, "failed": 0}

    def is_loaded(name):
        module = modules.get(name)
        return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)

    def install():
        """Returns the parts in place (bits from 0), those that failed (bits above), and again_bit if there is more to do."""
        if not is_loaded("torch"):
            return again_bit
        compiling = find_is_compiling()
        again = 0
        for index, (name, hook) in enumerate(parts):
            bit = 1 << index
            if (state["installed"] | state["failed"]) & bit:
                continue
            if not is_loaded(name):
                again = again_bit
                continue
            try:
                hook(modules[name], compiling)
                state["installed"] |= bit
            except Exception:
                state["failed"] |= bit
        return state["installed"] | state["failed"] << len(parts) | again

    return install


install = make_install(reports)  # noqa: F821 - put into the dictionary by start.cc
