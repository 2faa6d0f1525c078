# SPDX-License-Identifier: Apache-2.0
# What runs inside the program's interpreter: marks waits for data, optimizer steps, checkpoints, garbage collections and attention
# calls, samples PyTorch's allocator, and makes room for Triton's Proton.
#
# Embedded in the library at build time. start.cc compiles it once torch is loaded, runs it in a dictionary of its own, and calls
# install() until nothing is left to do. Reports go through the functions in `reports` (report_functions.h), which take integers;
# they do not block, so that the GIL is kept, and do nothing in forked children and once the recording ended.
#
# Nothing of the program is replaced, and no object of it gets an attribute: C functions of ours stand behind the objects that the
# program has (call_slot.h), make the calls as before, and then call what stands here (watched_calls.h). TOUCHED is the list of all.
#
# Rules: never import torch nor any module that is not there whenever torch is, never print, never keep the program's objects alive,
# never wait for the GPU, never call a function of Python that is not ours: so an exception that passed through another's frame was
# raised by a signal handler of the program's while we ran, and passes (is_ours); one of ours ends here. The program's tracers do not see us (unseen.h), and torch.compile is told
# to leave our code alone (hide_from_compiler), also by its path: start.cc claims a file in torch's folder of utilities, which is never
# compiled.
#
# Tensors: only plain ones are asked for their shape (a subclass would run the program's code, a traced or fake one would note the
# question), and no mode that sees calls of torch's functions sees ours.
#
# Limits: a step or an attention call inside a compiled region is not marked (torch.compile(optimizer.step) is a call, and is). While
# the main thread stays in C (a program that trains on another thread and joins it), the interpreter makes no pending call. What
# CPython 3.11 does not tell is in call_slot.h: there an explicit iterator.__next__() is no wait, and functions of
# torch.distributed.checkpoint that no decorator calls are not seen. CPython 3.8 does not tell f(*args) of builtins, nor
# does it let us count a call of one for the limit of recursion: calls of those that are observed may go deeper there.


def loaded(name):
    """A module. Where it is loaded, not by an import, which is a call of the program's where it has another __import__."""
    found = reports["modules"].get(name)  # noqa: F821 - put into the dictionary by start.cc
    return __import__(name) if found is None else found


functools, gc, itertools, os, sys, time, types = map(loaded, ("functools", "gc", "itertools", "os", "sys", "time", "types"))
UserDict, get_ident, weak_reference = loaded("collections").UserDict, loaded("_thread").get_ident, loaded("_weakref").ref

CHECKPOINT = 1  # host_span.kind
MOST_LOADERS = 4096
MOST_OPTIMIZERS = 16  # that are marked at a time: programs with one for each parameter take their steps together
MOST_WRITERS = 64  # of files that are open at a time
MOST_SHAPES = 65536  # of attention calls; those of later ones stay unknown
ALLOCATOR_PERIOD_NS = 1_000_000_000
TORCH_ATTENTION, FLASH_ATTENTION = 1, 2  # attention_shape.library
FORWARD, BACKWARD = 1, 2  # attention.direction
LONGEST_WAIT_FOR_ROOM_S = 2
PROTONS_CUPTI = "TRITON_CUPTI_LIB_PATH"  # the folder in which it looks for libcupti.so

# All that is touched: (names, with *, how, why the program cannot tell or what it could tell, the test that says so). What has no line
# here is not touched: the hooks refuse, and a test compares the list with what they did.
CALL = ("the C function by which CPython calls it (call_slot.h); object, hash, code, frames and tracebacks are the program's; what we run is "
        "kept from tracers, and where it cannot be (before CPython 3.11) it does not run. Since 3.12 CPython takes a function of Python that is "
        "called so for one of C, and tells sys.monitoring of a C_RETURN or C_RAISE after it, beside all that it tells without us")
REFERENCE = "weakref.getweakrefcount() tells of one more; nothing else of the object is written to, and it is not kept alive"
TOUCHED = (
    ("torch.utils.data.dataloader._BaseDataLoaderIter.__next__", "vectorcall", CALL, "python.Unchanged.test_no_frame_comes_in_between"),
    ("torch._C._log_api_usage_once", "vectorcall", CALL, "python.Unchanged.test_modules_and_classes_hold_what_they_held"),
    ("*.step", "vectorcall", "of each class of optimizers: " + CALL, "python.Unchanged.test_no_frame_comes_in_between"),
    ("torch._C.PyTorchFileWriter.__init__", "vectorcall", CALL, "python.Unchanged.test_modules_and_classes_hold_what_they_held"),
    ("torch._C.PyTorchFileWriter.write_end_of_file", "vectorcall", CALL, "python.Unchanged.test_modules_and_classes_hold_what_they_held"),
    ("torch.distributed.checkpoint.*save*", "vectorcall", CALL, "python.Unchanged.test_what_is_touched_is_in_the_table"),
    ("torch.*.scaled_dot_product_attention", "vectorcall", CALL + "; but f(*args) gives it an empty dictionary of arguments, as f(*args, **{})"
     " does, which the __torch_function__ of a subclass gets for None", "python.Unchanged.test_dictionaries_of_arguments"),
    ("flash_attn*.forward", "vectorcall", CALL, "python.Unchanged.test_what_is_touched_is_in_the_table"),
    ("flash_attn*.backward", "vectorcall", CALL, "python.Unchanged.test_what_is_touched_is_in_the_table"),
    ("triton._C.libproton.proton.*", "vectorcall", CALL + "; but for the folder that TRITON_CUPTI_LIB_PATH names while a session starts, and "
     "that before CPython 3.11 tracers see it, as Proton could not start without", "proton.Proton.test_own_copy"),
    ("torch.utils.data.dataloader._BaseDataLoaderIter", "weak reference", REFERENCE, "python.Unchanged.test_what_is_touched_is_in_the_table"),
    ("torch.optim.optimizer.Optimizer", "weak reference", REFERENCE, "python.Unchanged.test_what_is_touched_is_in_the_table"),
    ("torch.autograd.function.BackwardCFunction", "weak reference", "of flash_attn: " + REFERENCE,
     "python.Unchanged.test_what_is_touched_is_in_the_table"),
    ("torch.Tensor", "DLPack view", "of what attention gets and returns, for its sizes. A tensor that is copied when it is written to "
     "(torch._lazy_clone, which no public function makes) is copied by that, which its address tells",
     "python.PythonSide.test_attention_by_the_table_for_other_libraries"),
    ("torch._C._dynamo.eval_frame", "skip_code", "of our own code only: the compiler keeps a note with it, none with the program's",
     "python.Unchanged.test_torch_compile_skips_our_code"),
    ("gc.callbacks", "registered", "the interpreter's own list of observers has one more in front, which can be told; collections "
     "are as before, and pop() takes what the program appended", "python.Unchanged.test_the_programs_observers_of_collections_stay_last"),
)


def loaded_libraries(prefix):
    """Paths of the libraries in this process whose names begin so."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line[line.index("/"):].rstrip("\n") for line in maps if "/" in line}
    return [path for path in paths if os.path.basename(path).startswith(prefix)]


def code_of(function):
    """Its code, and that of all functions in it."""
    found = [function.__code__]
    for code in found:
        found += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return found


def hide_from_compiler(torch, functions):
    """torch.compile neither compiles our functions nor counts them as frames. Whether it was told."""
    compiler = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
    skip = getattr(compiler, "skip_code", None)  # before 2.7
    if hasattr(compiler, "set_code_exec_strategy"):
        leave = compiler._FrameAction.SKIP
        strategy = compiler._FrameExecStrategy(leave, leave)  # itself, and what it calls

        def skip(code):
            compiler.set_code_exec_strategy(code, strategy)

    for function in functions if skip else ():
        for code in code_of(function):
            skip(code)
    return skip is not None


def innermost(function):
    """What its decorators call in the end."""
    while isinstance(getattr(function, "__wrapped__", None), types.FunctionType):
        function = function.__wrapped__
    return function


class NumbersOf:
    """Numbers of objects of the program's, which are not kept alive. All that is written to them is a weak reference (TOUCHED)."""

    def __init__(self, most):
        self.known = {}  # id -> (weak reference, number)
        self.counter = itertools.count(1)  # also where threads are not kept apart by a lock, no number is given twice
        self.most = most

    def get(self, thing):
        """0: there are too many at a time."""
        entry = self.known.get(id(thing))
        if entry is not None and entry[0]() is thing:
            return entry[1]
        if len(self.known) >= self.most:
            return 0
        number = next(self.counter)
        self.put(thing, number)
        return number

    def put(self, thing, value):
        # Called when it dies, amid the program's code: no function of Python, which the program's tracers would see.
        forget = functools.partial(dict.pop, self.known, id(thing))
        self.known[id(thing)] = (weak_reference(thing, forget), value)

    def find(self, thing):
        """None: nothing was put."""
        entry = self.known.get(id(thing))
        return entry[1] if entry is not None and entry[0]() is thing else None


def fields_of(thing):
    """Its own attributes, without running the program's code: a class may compute what it is asked for, and count that it was."""
    if not type.__getattribute__(type(thing), "__dictoffset__"):
        return {}
    found = object.__getattribute__(thing, "__dict__")
    return found if type(found) is dict else {}


def whole(value):
    """The same if it is a number from 0 on; else -1. By its type: other objects may do anything when they are asked."""
    return int(value) if type(value) in (int, bool) and value >= 0 else -1


def make_install(reports, modules):
    report_loader, report_wait, report_step, report_span, report_worker, report_shape, report_attention, report_allocator = (
        reports["report_" + name] for name in ("loader", "wait", "step", "span", "worker", "shape", "attention", "allocator"))
    watch_attention = reports["watch_attention"]
    ask_for_room, mark_collection, report_unmarked_step, tell_touched, is_ours = (
        reports[name] for name in ("ask_for_room", "mark_collection", "report_unmarked_step", "tell_touched", "is_ours"))
    touched = []

    def watch_calls(function, before, after, even_seen=False):
        return reports["watch_calls"](function, before, after, even_seen)

    def touch(name, done):
        """`done`: whether it was, which is what the watch functions return."""
        if name not in {line[0] for line in TOUCHED} or not done:
            raise RuntimeError(name)
        if name not in touched:
            touched.append(name)

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
                batch = fields_of(batch).get("data")
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

        def samples_of(iterator, batch, full):
            """-1: unknown. Where the loader knows the size of its batches, a tensor with another one is no batch of samples. `full`: a list
            of the number of batches of that size that the iterator gave in this pass."""
            found = unseen(first_size, batch, 3)
            if found is None or found < 0:
                return -1
            fields = fields_of(iterator)
            sampler = fields_of(fields.get("_index_sampler"))
            size = whole(sampler.get("batch_size")) if fields.get("_auto_collation") is True else -1
            if size < 0:
                return found
            given = whole(fields.get("_num_yielded"))
            if given <= 1:
                full[0] = 0  # workers that stay have one iterator for all passes
            if found == size:
                full[0] += 1
                return found
            # The last one may be smaller. Which is the last only the length of the sampler tells, and to ask for it runs the program's
            # code: believed is a smaller one after nothing but full ones. Not of a stream of items, which has no length at all.
            is_stream = type(sampler.get("sampler")).__name__ == "_InfiniteConstantSampler"
            return found if found < size and full[0] == given - 1 >= 2 and not is_stream else -1

        return samples_of

    def hook_loader(module):
        samples_of = make_samples_of(modules["torch"])
        numbers = {}  # the identity of the sampler and the settings -> number
        counter = itertools.count(1)
        iterators = NumbersOf(MOST_LOADERS)  # those that told their loader's number; and a list, see samples_of

        def describe(self):
            # An iterator does not know its loader; the sampler that tells the indices is the loader's, for all its passes.
            fields = fields_of(self)
            sampler = fields.get("_index_sampler")
            workers = max(0, whole(fields.get("_num_workers")))
            settings = (workers, int(whole(fields.get("_pin_memory")) > 0), int(whole(fields.get("_persistent_workers")) > 0),
                        whole(fields.get("_prefetch_factor")) if workers else -1,
                        whole(fields_of(sampler).get("batch_size")) if fields.get("_auto_collation", True) is True else -1)
            key = (id(sampler), settings)
            found = numbers.get(key)
            if found is None:
                if len(numbers) >= MOST_LOADERS:
                    return 0
                found = numbers.setdefault(key, next(counter))
            report_loader(found, *settings)
            workers = fields.get("_workers")
            for worker in workers if type(workers) is list else ():
                pid = whole(fields_of(fields_of(worker).get("_popen")).get("pid"))  # Process.pid is a function of Python
                if pid > 0:
                    report_worker(pid, found)
            return found

        def known_of(self):
            """Its loader's number, and the list for samples_of."""
            found = iterators.find(self)
            if found is None:
                found = describe(self), [0]
                if len(iterators.known) < MOST_LOADERS:
                    iterators.put(self, found)
            return found

        def samples_or_unknown(*asked):
            try:
                return samples_of(*asked)
            except Exception:
                if not is_ours(sys.exc_info()[2]):
                    raise
                return -1

        def after_next(start, end, args, batch, returned):
            # The end of a pass (workers are joined in it) and errors are waits, too, without a batch.
            self = args[0]
            batch_number = max(0, whole(fields_of(self).get("_num_yielded"))) - 1 if returned else -1
            loader, full = known_of(self)
            report_wait(start, end, loader, batch_number, samples_or_unknown(self, batch, full) if returned else -1)

        touch("torch.utils.data.dataloader._BaseDataLoaderIter", True)
        touch("torch.utils.data.dataloader._BaseDataLoaderIter.__next__",
              watch_calls(vars(module._BaseDataLoaderIter)["__next__"], None, after_next))

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

    def hook_optimizer(module):
        base = module.Optimizer
        numbers = NumbersOf(MOST_OPTIMIZERS)
        stepping = set()  # (thread, optimizer): the step of a base class inside a step is no step
        sample_allocator = make_sample_allocator(modules["torch"])

        def before_step(start, args):
            key = get_ident(), id(args[0])
            if key in stepping:
                return False
            stepping.add(key)
            return functools.partial(stepping.discard, key)

        def after_step(start, end, args, result, returned):
            optimizer = args[0]
            stepping.discard((get_ident(), id(optimizer)))
            if not returned:
                return
            number = numbers.get(optimizer)
            if not number:
                return report_unmarked_step()
            report_step(end, number)
            sample_allocator(end)

        def watch_all(owner):
            """The steps of all classes, which PyTorch wraps when the first object of each is made: the wrapper calls them by `*args`."""
            step = vars(owner).get("step")
            if isinstance(step, types.FunctionType) and owner is not base:
                inner = getattr(step, "__wrapped__", step) if getattr(step, "hooked", False) else step
                touch("*.step", watch_calls(inner, before_step, after_step))
            for derived in type.__subclasses__(owner):
                watch_all(derived)

        def before_usage(start, args):
            """What an optimizer says as it is made: its class may be a new one."""
            if args and args[0] == "python.optimizer":
                watch_all(base)
            return False

        watch_all(base)
        touch("torch.optim.optimizer.Optimizer", True)
        touch("torch._C._log_api_usage_once", watch_calls(modules["torch"]._C._log_api_usage_once, before_usage, None))

    saving = set()  # threads that are inside a distributed save: files that it writes are part of it

    def hook_save(module):
        """A file in PyTorch's format, from where it is opened to its end: that is torch.save, under whatever name."""
        writer = modules["torch"]._C.PyTorchFileWriter
        opened = {}  # id of a writer -> when

        def before_opening(start, args):
            if len(opened) >= MOST_WRITERS:
                opened.clear()
            opened[id(args[0])] = start
            return False

        def after_end(start, end, args, result, returned):
            since = opened.pop(id(args[0]), None)
            if since is not None and get_ident() not in saving:
                report_span(since, end, CHECKPOINT, -1)

        for name, before, after in (("__init__", before_opening, None), ("write_end_of_file", None, after_end)):
            method = vars(writer)[name]
            touch("torch._C.PyTorchFileWriter." + name, watch_calls(getattr(method, "__func__", method), before, after))

    def hook_distributed_save(module):
        def is_background():
            """Whether async_save's own thread calls, which keeps nobody waiting. Frames: this, before_save, decorators, the caller."""
            frame = sys._getframe(2)
            for _ in range(6):
                name = frame.f_globals.get("__name__") or "" if frame is not None else ""
                if name == "concurrent.futures.thread" or name.startswith("torch.distributed.checkpoint._async"):
                    return True
                frame = frame and frame.f_back
            return False

        def before_save(start, args):
            thread = get_ident()
            if thread in saving or is_background():
                return False
            saving.add(thread)
            return functools.partial(saving.discard, thread)

        def after_save(start, end, args, result, returned):
            saving.discard(get_ident())
            report_span(start, end, CHECKPOINT, -1)

        for name in ("save", "async_save", "save_state_dict"):
            function = getattr(module, name, None)
            if isinstance(function, types.FunctionType):
                touch("torch.distributed.checkpoint.*save*", watch_calls(innermost(function), before_save, after_save))

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

    def hook_attention(module):
        torch = modules["torch"]
        builtin = getattr(torch._C._nn, "scaled_dot_product_attention", None)
        if builtin is None:  # before torch 2.0
            return
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

        modes = getattr(torch._C, "_len_torch_function_stack", None)
        has_lock = getattr(sys, "_is_gil_enabled", None)
        is_plain_python = modes is not None and (has_lock is None or has_lock())
        if "__dlpack_c_exchange_api__" in vars(torch.Tensor):
            touch("torch.Tensor", True)
        touch("torch.*.scaled_dot_product_attention",
              watch_attention(builtin, (torch.Tensor, modes, is_traced, report_if_untraced, is_plain_python)))

    def hook_flash_attention(module):
        """The forward and backward of the package's autograd functions, which all its functions, however imported, go through."""
        torch = modules["torch"]
        codes, plain, unseen = make_type_codes(torch), make_plain(torch), make_unseen(torch)
        shapes_of = NumbersOf(MOST_SHAPES)  # of contexts between a forward and its backward
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

        def make_after_forward(names):
            def after_forward(start, end, args, result, returned):
                shape = unseen(describe, dict(zip(names, args))) if returned else None
                if shape is not None:
                    report(start, end, shape, FORWARD)
                    shapes_of.put(args[0], shape)

            return after_forward

        def after_backward(start, end, args, result, returned):
            shape = shapes_of.find(args[0]) if returned else None
            if shape is not None:
                report(start, end, shape, BACKWARD)

        for owner in list(vars(module).values()):
            if not isinstance(owner, type):
                continue
            forward, backward = [getattr(vars(owner).get(name), "__func__", None) for name in ("forward", "backward")]
            if not isinstance(forward, types.FunctionType) or not isinstance(backward, types.FunctionType):
                continue
            names = forward.__code__.co_varnames[:forward.__code__.co_argcount]
            if {"q", "k", "v"} <= set(names) or "qkv" in names or {"q", "kv"} <= set(names):
                touch("torch.autograd.function.BackwardCFunction", True)
                touch("flash_attn*.forward", watch_calls(forward, None, make_after_forward(names)))
                touch("flash_attn*.backward", watch_calls(backward, None, after_backward))

    def hook_proton(module):
        """Proton takes CUPTI's records for itself: we leave them to it until its last session is over. And it brings a copy of CUPTI, which
        CUPTI refuses in a process where another copy was used: it gets that one."""
        library = module.libproton  # all of Proton's functions go through it, however they were imported
        sessions, undoing = set(), []

        def uses_cupti(args):
            return any(isinstance(arg, str) and arg.startswith("cupti") for arg in args[1:5])  # after the name, in an order that varies

        def lend_loaded_cupti():
            """Proton is to load the copy of CUPTI that is loaded already. A function that undoes that."""
            try:
                copies = loaded_libraries("libcupti.so")
                if len(copies) != 1:
                    return lambda: None
                folder = f"/tmp/traceinject-{os.getpid()}-{time.monotonic_ns()}"
                os.mkdir(folder, 0o700)
                link = os.path.join(folder, "libcupti.so")
                os.symlink(copies[0], link)
            except OSError:
                if not is_ours(sys.exc_info()[2]):
                    raise
                return lambda: None
            before = os.environ.get(PROTONS_CUPTI)
            os.environ[PROTONS_CUPTI] = folder

            def undo():
                if before is None:
                    del os.environ[PROTONS_CUPTI]
                else:
                    os.environ[PROTONS_CUPTI] = before
                for remove, path in ((os.unlink, link), (os.rmdir, folder)):
                    try:
                        remove(path)
                    except OSError:
                        if not is_ours(sys.exc_info()[2]):
                            raise

            return undo

        def ask_and_wait():
            until = time.monotonic() + LONGEST_WAIT_FOR_ROOM_S
            while not ask_for_room(1) and time.monotonic() < until:
                time.sleep(0.001)

        def end(ended):
            sessions.difference_update(ended)
            if not sessions:
                ask_for_room(0)

        def before_start(start, args):
            if not uses_cupti(args):
                return False
            ask_and_wait()
            undoing.append(lend_loaded_cupti())
            return True

        def after_start(start, end_ns, args, session, returned):
            while undoing:
                undoing.pop()()
            if returned:
                sessions.add(session)
            end(())

        def after_finalize(start, end_ns, args, result, returned):
            end(args[:1])

        def after_finalize_all(start, end_ns, args, result, returned):
            end(tuple(sessions))

        for name, before, after in (("start", before_start, after_start), ("finalize", None, after_finalize),
                                    ("finalize_all", None, after_finalize_all)):
            touch("triton._C.libproton.proton.*", watch_calls(getattr(library, name), before, after, True))

    def hook_collector(module):
        # In front: a program that takes out what it put at the end, by pop(), gets its own.
        if not any(callback is mark_collection for callback in gc.callbacks):
            gc.callbacks.insert(0, mark_collection)
        touch("gc.callbacks", True)

    parts = [("torch.utils.data.dataloader", hook_loader), ("torch.optim.optimizer", hook_optimizer),
             ("torch.serialization", hook_save), ("torch", hook_collector), ("torch.nn.functional", hook_attention),
             ("flash_attn.flash_attn_interface", hook_flash_attention), ("flash_attn_interface", hook_flash_attention),
             ("torch.distributed.checkpoint.state_dict_saver", hook_distributed_save), ("triton.profiler.profile", hook_proton)]
    again_bit = 1 << 2 * len(parts)  # in what install() returns: some module is not loaded yet
    state = {"installed": 0, "failed": 0}

    def is_loaded(name):
        """One that the program loads when it is first used is not: to ask for an attribute would load it."""
        module = modules.get(name)
        return type(module) is types.ModuleType and not fields_of(vars(module).get("__spec__")).get("_initializing", False)

    def install():
        """Returns the parts in place (bits from 0), those that failed (bits above), and again_bit if there is more to do."""
        if not is_loaded("torch"):
            return again_bit
        if not state["installed"]:
            if hide_from_compiler(modules["torch"], (make_install, fields_of, whole, NumbersOf.get, NumbersOf.put, NumbersOf.find)):
                touch("torch._C._dynamo.eval_frame", True)
        again = 0
        for index, (name, hook) in enumerate(parts):
            bit = 1 << index
            if (state["installed"] | state["failed"]) & bit:
                continue
            if not is_loaded(name):
                again = again_bit
                continue
            try:
                hook(modules[name])
                state["installed"] |= bit
            except Exception:
                if not is_ours(sys.exc_info()[2]):
                    raise
                state["failed"] |= bit
        tell_touched(", ".join(f"{name} ({how})" for name, how, _, _ in TOUCHED if name in touched))
        return state["installed"] | state["failed"] << len(parts) | again

    return install


install = make_install(reports, reports["modules"])  # noqa: F821
