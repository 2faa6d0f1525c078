# SPDX-License-Identifier: Apache-2.0
# Pulls the levers of TRACEINJECT_TRY that are pulled in the program's interpreter (schemas/try_levers.h): the one place where the
# library changes the program on purpose.
#
# Embedded in the library at build time. python_levers.cc compiles it and runs it in a dictionary of its own when the program is about
# to import torch. There, before it runs: `asked`, {lever: value}, and tell(lever, times, text), which notes for the recording how
# often a lever took effect and where, or, with 0 times, why it did not.
#
# install() puts a finder in front of all others that waits for torch: once that is imported, the levers are pulled, and the finder is
# gone. Classes stay the objects that they are, so that it does not matter who imported them by which name; methods of theirs are
# wrapped.
#
# Rules: what fails here is told and changes nothing. A wrapper raises nothing that the call as the program made it would not have
# raised: where ours fails, that call is made. What the compiler of torch is, is not imported before a module is compiled, and it
# compiles nothing of ours (hide_from_compiler).

import builtins
import collections
import functools
import gc
import inspect
import io
import itertools
import os
import pathlib
import shutil
import sys
import threading
import types

MODULE = "torch"
MOST_LOSSES = 4096
LOSSES_A_NOTE = 16
OWN_CODE = sys._getframe().f_code
TOLD_EACH = 8  # after so many times, only powers of two are told
MOST_MODULES = 8  # outermost ones that are changed: a program may have several, such as the two of a GAN
LONGEST_VALUE = 80  # of an argument, as told
PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep, os.path.dirname(os.__file__) + os.sep)
collect_garbage = gc.collect  # before a lever takes it away


class Unavailable(Exception):
    """Why a lever cannot be pulled here."""


def calling_frames():
    """(the nearest frame outside of installed packages, the nearest one outside of torch); None where there is none."""
    frame, of_package = sys._getframe(1), None
    folder = os.path.dirname(getattr(sys.modules.get(MODULE), "__file__", None) or "/?") + os.sep
    while frame is not None:
        name = frame.f_code.co_filename
        if name != OWN_CODE.co_filename and not name.startswith((folder, "<")):
            of_package = of_package or frame
            if not any(part in name for part in PACKAGES):
                return frame, of_package
        frame = frame.f_back
    return None, of_package


def place():
    """Where the program called: "train.py:41"."""
    of_program, of_package = calling_frames()
    frame = of_program or of_package
    return "%s:%d" % (os.path.basename(frame.f_code.co_filename), frame.f_lineno) if frame else "the program"


def note(lever, times, text):
    """tell(), which refuses what UTF-8 cannot say, such as parts of some file names. Never fails, as it is within the program's calls."""
    try:
        tell(lever, times, text.encode("utf-8", "backslashreplace").decode())  # noqa: F821 - put into the dictionary by python_levers.cc
    except Exception:
        pass


def shown(value):
    try:
        return repr(value)[:LONGEST_VALUE]
    except Exception:
        return "an object of %s" % type(value).__name__


call_diff = None  # a CallDiff, where one is asked for


def note_diff(argument):
    """Of the call that the program is in. It says what the program could be, so whatever fails here is no matter."""
    if call_diff is None or argument is None:
        return
    try:
        frame, nearest = calling_frames()
        text = call_diff.want(frame, argument) if frame is not None and frame is nearest else ""
    except Exception:
        return
    if text:
        note("diff", 1, text)


class Count:
    """How often a lever took effect."""

    def __init__(self, lever):
        self.lever, self.times = lever, 0

    def tell(self, text, argument=None):
        """It took effect. `argument`: of the program's call, that was changed."""
        self.times += 1
        if self.times <= TOLD_EACH or self.times & (self.times - 1) == 0:
            note(self.lever, self.times, "%s %s" % (place(), text))
            note_diff(argument)

    def tell_why_not(self, text):
        """It did not here; what it did elsewhere stays."""
        if not self.times:
            note(self.lever, 0, "%s: %s" % (place(), text))

    def tell_change(self, what, name, value, before, argument=None):
        """What may have been so already."""
        if isinstance(before, (int, float, str)) and before == value:
            self.tell_why_not("it is %s(%s=%s) already" % (what, name, shown(value)))
        else:
            self.tell("%s(%s=%s), was %s" % (what, name, shown(value), shown(before)), argument)


def wrap(owner, name, make):
    """Puts make(original) into the place of a function."""
    original = getattr(owner, name, None)
    if original is None:
        raise Unavailable("this version of torch has no %s()" % name)
    setattr(owner, name, functools.wraps(original)(make(original)))


def is_true(value):
    return value not in ("0", "False", "false", "no", "off")


def require(value, *known):
    if value not in known:
        raise Unavailable("its value is %s" % " or ".join(known))


def require_cuda(torch):
    """That torch was built with it: to ask for a GPU would start the driver, which must not be before a fork."""
    backend = getattr(getattr(torch, "backends", None), "cuda", None)
    if backend is not None and not backend.is_built():
        raise Unavailable("this torch has no CUDA")


def call_changed(original, self, bound, planned, args, kwargs, undo=lambda: None):
    """Makes __init__() with the planned arguments, or where that raises, as the program made it. Why it raised; None: it did not."""
    if not planned:
        return original(self, *args, **kwargs)
    before = dict(vars(self))
    try:
        bound.arguments.update(planned)
        return original(*bound.args, **bound.kwargs)
    except Exception as error:
        why = "%s: %s" % (type(error).__name__, error)
    vars(self).clear()
    vars(self).update(before)
    undo()
    original(self, *args, **kwargs)
    return why


def code_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from code_of(constant)


def hide_from_compiler(torch):
    """Where torch.compile meets a frame of ours, it leaves that as it is and goes on with what it calls."""
    compiler = getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "eval_frame", None)
    skip = getattr(compiler, "skip_code", None)  # before 2.7
    if hasattr(compiler, "set_code_exec_strategy"):
        strategy = compiler._FrameExecStrategy(compiler._FrameAction.SKIP, compiler._FrameAction.DEFAULT)

        def skip(code):
            compiler.set_code_exec_strategy(code, strategy)

    for code in code_of(OWN_CODE) if skip else ():
        skip(code)


def compiling_of(torch):
    """A function that says whether this call is being traced: to torch.compile a constant, which does not look at what it rules out."""
    compiler = getattr(torch, "compiler", None)
    if hasattr(compiler, "_is_compiling_flag"):
        return compiler.is_compiling
    return lambda: False  # to ask older versions would import the compiler


# What happens in a program's backward pass, which each step of a training has.
after_backward = []  # (lever, function of the tensors)


def watch_backward(torch):
    """Once, whoever asks."""
    if after_backward:
        return
    autograd = getattr(torch, "autograd", None)
    if autograd is None:
        raise Unavailable("this version of torch has no torch.autograd")

    def make(original):
        def backward(*args, **kwargs):
            result = original(*args, **kwargs)
            for one in list(after_backward):
                lever, seen = one
                try:
                    seen(args[0] if args else kwargs.get("tensors"))
                except Exception as error:  # ours; the program's own came through above
                    after_backward.remove(one)
                    note(lever, 0, "%s it failed: %s: %s" % (place(), type(error).__name__, error))
            return result

        return backward

    wrap(autograd, "backward", make)  # Tensor.backward() looks it up when it is called


def call_after_backward(torch, lever, seen):
    watch_backward(torch)
    after_backward.append((lever, seen))


def call_at(torch, lever, times, function):
    """After each of these backward passes, counted from 1."""
    count = itertools.count(1)

    def seen(_):
        if next(count) in times:
            function()

    call_after_backward(torch, lever, seen)


def keep_setting(torch, lever, name, wanted, read, write):
    """A setting of torch's: now, and again where the program set it before it trained."""
    count = Count(lever)

    def apply():
        before = read()
        if before == wanted:
            return count.tell_why_not("%s is %s already" % (name, shown(wanted)))
        write()
        return count.tell("%s is %s, was %s" % (name, shown(wanted), shown(before)))

    call_at(torch, lever, (1, 2, 10), apply)
    apply()
    return count


# Data loaders.

loader_wishes = {}  # lever -> (argument, value, count)
OF_WORKERS = ("prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout")  # torch refuses them where there are none


def plan_loader(given, defaults, is_iterable):
    """({argument: value} of a DataLoader that are to be others, {lever: why it is not pulled})."""
    planned, why_not = {}, {}
    workers = given["num_workers"]
    if "num_workers" in loader_wishes:
        if is_iterable and not workers:
            why_not["num_workers"] = "an IterableDataset may give its data twice"
        else:
            planned["num_workers"] = loader_wishes["num_workers"][1]
    workers_then = planned.get("num_workers", workers)
    if workers and not workers_then:
        planned.update({argument: defaults[argument] for argument in OF_WORKERS if argument in defaults})
    for lever, (argument, value, _) in loader_wishes.items():
        if argument not in given:
            why_not[lever] = "this version of torch has no DataLoader(%s)" % argument
        elif argument in OF_WORKERS and not workers_then:
            why_not[lever] = "the loader has no workers"
        elif lever != "num_workers":
            planned[argument] = value
    return planned, why_not


def make_loader_init(torch):
    iterable = getattr(torch.utils.data, "IterableDataset", ())

    def make(original):
        signature = inspect.signature(original)
        defaults = {name: one.default for name, one in signature.parameters.items()}

        def __init__(self, *args, **kwargs):
            try:
                bound = signature.bind(self, *args, **kwargs)
                was_given = set(bound.arguments)
                given = {**defaults, **bound.arguments}
                planned, why_not = plan_loader(given, defaults, isinstance(given["dataset"], iterable))
            except Exception:
                return original(self, *args, **kwargs)
            failure = call_changed(original, self, bound, planned, args, kwargs)
            for lever, (argument, value, count) in loader_wishes.items():
                if failure or lever in why_not:
                    count.tell_why_not(failure or why_not[lever])
                else:
                    count.tell_change("DataLoader", argument, value, given[argument],
                                      Argument(torch.utils.data.DataLoader, argument, value, position_in(signature, argument), argument in was_given))
            return None

        return __init__

    return make


def pull_loader(lever, argument, read):
    def pull(torch, value):
        wished = read(value)
        if lever == "pin_memory":
            require_cuda(torch)
        if not loader_wishes:
            wrap(torch.utils.data.DataLoader, "__init__", make_loader_init(torch))
        loader_wishes[lever] = (argument, wished, Count(lever))
        return "no DataLoader was made"

    return pull


def pull_non_blocking(torch, value):
    require(value, "1")
    count, is_compiling = Count("non_blocking"), compiling_of(torch)
    plain = (torch.Tensor, torch.nn.Parameter)  # others are asked by the program's code, or are not there

    def is_upload(tensor, args, kwargs, is_cuda):
        if type(tensor) not in plain or kwargs.get("non_blocking") or any(isinstance(arg, bool) for arg in args):
            return False
        if tensor.device.type != "cpu":
            return False
        target = kwargs.get("device", args[0] if args else kwargs.get("other"))
        target = getattr(target, "device", target)
        to_gpu = is_cuda or isinstance(target, int) or str(target).startswith("cuda")
        return to_gpu and not torch.jit.is_tracing() and tensor.is_pinned()

    def make(is_cuda):
        def of(original):
            text = "Tensor.%s(non_blocking=True) of pinned memory, was False" % original.__name__

            def copy(self, *args, **kwargs):
                if is_compiling():
                    return original(self, *args, **kwargs)
                try:
                    is_ours = is_upload(self, args, kwargs, is_cuda)
                except Exception:
                    is_ours = False
                if not is_ours:
                    return original(self, *args, **kwargs)
                count.tell(text, Argument(original.__name__, "non_blocking", True, None, "non_blocking" in kwargs))
                return original(self, *args, **{**kwargs, "non_blocking": True})

            return copy

        return of

    wrap(torch.Tensor, "to", make(False))
    wrap(torch.Tensor, "cuda", make(True))
    return "nothing pinned was copied to a GPU"


# Optimizers.

optimizer_wishes = {}  # argument -> (value, count)
optimizers_being_made = []  # a class calls the one that it is derived from: the first of them decides
SWITCHES = ("fused", "foreach")
FUSED_ON_CPU_ONLY = ("Adagrad",)  # which says so in its first step, too late


def as_list(values):
    """An iterator, such as a generator of parameters, gives them once. All else is torch's to judge."""
    return list(values) if hasattr(values, "__next__") else values


def tensors_of(params):
    for one in params:
        if isinstance(one, dict):
            one["params"] = as_list(one["params"])
            yield from [one["params"]] if hasattr(one["params"], "is_floating_point") else tensors_of(one["params"])
        else:
            yield one[1] if isinstance(one, tuple) else one


def plan_optimizer(kind, given, tensors):
    """({argument: value}, {argument: why not}) of an optimizer."""
    planned, why_not = {}, {}
    for name in SWITCHES:  # fused before foreach, which it excludes
        if name not in optimizer_wishes:
            continue
        value = optimizer_wishes[name][0]
        if name not in given:
            why_not[name] = "%s has no %s" % (kind.__name__, name)
        elif name == "foreach" and planned.get("fused", given.get("fused")):
            why_not[name] = "it is fused, which is faster"
        elif name == "fused" and value and any(base.__name__ in FUSED_ON_CPU_ONLY for base in kind.__mro__):
            why_not[name] = "%s has no fused kernel on GPUs" % kind.__name__
        elif name == "fused" and value and not all(tensor.is_cuda and tensor.is_floating_point() for tensor in tensors):
            why_not[name] = "parameters are not all floating-point ones on a GPU"
        else:
            planned[name] = value
    if planned.get("fused") and "foreach" in given:
        planned["foreach"] = None
    return planned, why_not


def make_optimizer_init(original):
    signature = inspect.signature(original)
    defaults = {name: one.default for name, one in signature.parameters.items()}

    def __init__(self, *args, **kwargs):
        if any(one is self for one in optimizers_being_made):
            return original(self, *args, **kwargs)
        try:
            bound = signature.bind(self, *args, **kwargs)
            was_given = set(bound.arguments)
        except TypeError:
            return original(self, *args, **kwargs)
        bound.arguments["params"] = params = as_list(bound.arguments.get("params"))  # what its generator raises is the program's
        args, kwargs = bound.args[1:], bound.kwargs
        try:
            given = {**defaults, **bound.arguments}
            tensors = list(tensors_of(params))
            groups = [(group, dict(group)) for group in params if isinstance(group, dict)]
            planned, why_not = plan_optimizer(type(self), given, tensors)
        except Exception:
            return original(self, *args, **kwargs)

        def undo():
            for group, as_given in groups:  # torch notes the defaults in them
                group.clear()
                group.update(as_given)

        optimizers_being_made.append(self)
        try:
            failure = call_changed(original, self, bound, planned, args, kwargs, undo)
        finally:
            optimizers_being_made[:] = [one for one in optimizers_being_made if one is not self]
        for name, (value, count) in optimizer_wishes.items():
            if failure or name in why_not:
                count.tell_why_not(failure or why_not[name])
            else:
                count.tell_change(type(self).__name__, name, value, given[name],
                                  Argument(type(self), name, value, position_in(signature, name), name in was_given))
        return None

    return __init__


def pull_optimizer(name):
    """`fused` or `foreach` of all optimizers of torch that have it."""

    def pull(torch, value):
        base, found = torch.optim.Optimizer, {}
        for kind in vars(torch.optim).values():
            if isinstance(kind, type) and issubclass(kind, base) and "__init__" in vars(kind) and kind is not base:
                switches = set(SWITCHES) & set(inspect.signature(kind.__init__).parameters)
                if switches:
                    found[kind] = switches
        if not any(name in switches for switches in found.values()):
            raise Unavailable("the optimizers of this version of torch have no %s" % name)
        if not optimizer_wishes:
            for kind in found:
                wrap(kind, "__init__", make_optimizer_init)
        optimizer_wishes[name] = (is_true(value), Count(name + "_optimizer"))
        return "no optimizer of torch.optim that has it was made"

    return pull


def pull_set_to_none(torch, value):
    count, wished = Count("set_to_none"), is_true(value)

    def make(original):
        usual = inspect.signature(original).parameters["set_to_none"].default

        def zero_grad(self, *args, **kwargs):
            if len(args) + len(kwargs) > 1 or not set(kwargs) <= {"set_to_none"}:
                return original(self, *args, **kwargs)
            before = args[0] if args else kwargs.get("set_to_none", usual)
            count.tell_change(type(self).__name__ + ".zero_grad", "set_to_none", wished, before,
                              Argument("zero_grad", "set_to_none", wished, 0, bool(args or kwargs)))
            return original(self, set_to_none=wished)

        return zero_grad

    found = [owner for owner in (getattr(torch.optim, "Optimizer", None), getattr(torch.nn, "Module", None))
             if "set_to_none" in inspect.signature(getattr(owner, "zero_grad", place)).parameters]
    for owner in found:
        wrap(owner, "zero_grad", make)
    return "zero_grad() was not called" if found else "this version of torch has no zero_grad(set_to_none)"


# The interpreter's memory, and the GPU's.


def pull_gc_freeze(torch, value):
    passes, count = max(1, int(value)), Count("gc_freeze")

    def freeze():
        collect_garbage()
        gc.freeze()
        count.tell("gc.freeze(): the %d objects alive after %d backward passes are frozen" % (gc.get_freeze_count(), passes))

    call_at(torch, "gc_freeze", (passes,), freeze)
    return "there were fewer backward passes than %d" % passes


def pull_gc_threshold(torch, value):
    """The program's own wishes count for nothing; without any collections its gc.collect() does nothing, either."""
    threshold, before, count = int(value), gc.get_threshold(), Count("gc_threshold")
    gc.set_threshold(threshold)
    gc.set_threshold = functools.wraps(gc.set_threshold)(lambda *_: None)
    count.tell_change("gc", "threshold", threshold, before[0])
    if threshold == 0:
        def collect_nothing(*args, **kwargs):
            count.tell("gc.collect() does nothing")
            return 0

        gc.collect = functools.wraps(collect_garbage)(collect_nothing)


def pull_empty_cache(torch, value):
    require(value, "0")
    original, count = torch.cuda.empty_cache, Count("empty_cache")

    @functools.wraps(original)
    def empty_cache():
        count.tell("torch.cuda.empty_cache() does nothing")

    for owner in (torch.cuda, getattr(torch.cuda, "memory", None)):
        if getattr(owner, "empty_cache", None) is original:
            owner.empty_cache = empty_cache
    return "torch.cuda.empty_cache() was not called"


# Precision and kernels.


def pull_matmul_precision(torch, value):
    require(value, "highest", "high", "medium")
    if not hasattr(torch, "set_float32_matmul_precision"):
        raise Unavailable("this version of torch has no set_float32_matmul_precision()")
    set_precision, cudnn = torch.set_float32_matmul_precision, torch.backends.cudnn

    def read():
        return (torch.get_float32_matmul_precision(), cudnn.allow_tf32)

    def write():
        set_precision(value)
        cudnn.allow_tf32 = value != "highest"

    wanted = (value, value != "highest")
    count = keep_setting(torch, "matmul_precision", "(float32_matmul_precision, cudnn.allow_tf32)", wanted, read, write)

    @functools.wraps(set_precision)
    def ignore(precision):
        if precision != value:
            count.tell("torch.set_float32_matmul_precision(%s) does nothing, it is %r" % (shown(precision), value))

    torch.set_float32_matmul_precision = ignore


def pull_cudnn_benchmark(torch, value):
    cudnn, wished = torch.backends.cudnn, is_true(value)
    keep_setting(torch, "cudnn_benchmark", "torch.backends.cudnn.benchmark", wished, lambda: cudnn.benchmark,
                 lambda: setattr(cudnn, "benchmark", wished))


def pull_autocast(torch, value):
    """Of all that the main thread does but backward passes, which take the types of the forward pass."""
    require(value, "bf16", "fp16")
    require_cuda(torch)
    if threading.current_thread() is not threading.main_thread():
        raise Unavailable("torch was not imported by the main thread")
    kind = torch.bfloat16 if value == "bf16" else torch.float16
    if hasattr(torch, "set_autocast_dtype"):
        is_on, switch = functools.partial(torch.is_autocast_enabled, "cuda"), functools.partial(torch.set_autocast_enabled, "cuda")
        torch.set_autocast_dtype("cuda", kind)
    else:
        is_on, switch = torch.is_autocast_enabled, torch.set_autocast_enabled
        torch.set_autocast_gpu_dtype(kind)

    def make(original):
        def backward(*args, **kwargs):
            was_on = is_on()
            switch(False)
            try:
                return original(*args, **kwargs)
            finally:
                switch(was_on)

        return backward

    wrap(torch.autograd, "backward", make)
    before = is_on()
    # Copies of weights are dropped at the end of an autocast region, of which there is none: they would be old after a step.
    torch.set_autocast_cache_enabled(False)
    switch(True)
    Count("autocast").tell("torch.autocast(\"cuda\", %s) is %s, was %s" % (kind, is_on(), before))


def pull_sdpa(torch, value):
    backends = torch.backends.cuda
    switches = {"flash": "flash", "efficient": "mem_efficient", "cudnn": "cudnn", "math": "math"}
    require(value, *switches)
    there = {name: part for name, part in switches.items() if hasattr(backends, "enable_%s_sdp" % part)}
    if value not in there:
        raise Unavailable("this version of torch has no such kernel of scaled_dot_product_attention()")

    def enabled():
        return ", ".join(name for name, part in there.items() if getattr(backends, part + "_sdp_enabled")())

    before = enabled()
    for name, part in there.items():
        getattr(backends, "enable_%s_sdp" % part)(name in (value, "math"))
    Count("sdpa").tell("scaled_dot_product_attention() takes %s, took %s" % (enabled(), before))


# The outermost modules: those that the program calls itself, with parameters on a GPU, in training. They are looked for until the first
# backward pass is over. Then Module.__call__ is as it was, and they are changed, before the first step makes the optimizer's state and
# before DistributedDataParallel lays out its buckets again, which both follow the layout of the parameters.

module_changes = {}  # lever -> function of a module
CHANGES_IN_ORDER = ("channels_last", "compile")  # what is compiled has the hooks already


def return_call(torch, ours, original):
    """Puts Module.__call__ back, also where the compiler keeps it to know modules that nobody changed."""
    if torch.nn.Module.__call__ is ours:
        torch.nn.Module.__call__ = original
    for name, module in list(sys.modules.items()):
        if name.startswith("torch._dynamo") and vars(module).get("unpatched_nn_module_call") is ours:
            module.unpatched_nn_module_call = original


def watch_modules(torch):
    modules, nesting, is_compiling = [], threading.local(), compiling_of(torch)

    def keep(module):
        try:
            first = next(iter(module.parameters()), None) if module.training else None
            if first is not None and first.is_cuda and len(modules) < MOST_MODULES and not any(module is one for one in modules):
                modules.append(module)
        except Exception:
            pass

    def make(original):
        def __call__(self, *args, **kwargs):
            if is_compiling():
                return original(self, *args, **kwargs)
            depth = getattr(nesting, "depth", 0)
            if not depth:
                keep(self)
            nesting.depth = depth + 1
            try:
                return original(self, *args, **kwargs)
            finally:
                nesting.depth = depth

        return __call__

    original = torch.nn.Module.__call__
    wrap(torch.nn.Module, "__call__", make)
    ours = torch.nn.Module.__call__

    def change():
        return_call(torch, ours, original)
        for lever in CHANGES_IN_ORDER:
            for module in modules if lever in module_changes else ():
                try:
                    module_changes[lever](module)
                except Exception as error:
                    note(lever, 0, "%s it failed: %s: %s" % (place(), type(error).__name__, error))
        modules.clear()

    return change


def change_outermost(torch, lever, change):
    watch_backward(torch)
    if not module_changes:
        call_at(torch, lever, (1,), watch_modules(torch))
    module_changes[lever] = change
    return "no module with parameters on a GPU was called in training"


def pull_compile(torch, value):
    count = Count("compile")
    if not hasattr(torch.nn.Module, "compile"):
        raise Unavailable("this version of torch has no Module.compile()")

    def change(module):
        name = type(module).__name__
        if any(getattr(one, "_compiled_call_impl", None) is not None or hasattr(one, "_orig_mod") for one in module.modules()):
            count.tell_why_not("%s is compiled already" % name)
        elif isinstance(module, torch.jit.ScriptModule):
            count.tell_why_not("%s is a ScriptModule" % name)
        else:
            module.compile(mode=value)
            count.tell("%s.compile(mode=%r), was not compiled" % (name, value))

    return change_outermost(torch, "compile", change)


def pull_channels_last(torch, value):
    require(value, "1")
    count, layout = Count("channels_last"), torch.channels_last

    def convert(given):
        is_image = isinstance(given, torch.Tensor) and given.dim() == 4 and given.is_cuda and given.is_floating_point()
        return given.contiguous(memory_format=layout) if is_image else given

    def before_forward(_, args, kwargs=None):
        converted = tuple(convert(one) for one in args)
        return converted if kwargs is None else (converted, {name: convert(one) for name, one in kwargs.items()})

    def change(module):
        name = type(module).__name__
        if not any(parameter.dim() == 4 for parameter in module.parameters()):
            return count.tell_why_not("%s has no weights of four dimensions" % name)
        module.to(memory_format=layout)
        takes_kwargs = "with_kwargs" in inspect.signature(module.register_forward_pre_hook).parameters
        module.register_forward_pre_hook(before_forward, **({"with_kwargs": True} if takes_kwargs else {}))
        return count.tell("%s.to(memory_format=torch.channels_last), and its inputs, was not" % name)

    return change_outermost(torch, "channels_last", change)


# Data-parallel training.

ddp_wishes = {}  # lever -> (argument, value, count)


def make_ddp_init(original):
    signature = inspect.signature(original)
    defaults = {name: one.default for name, one in signature.parameters.items()}

    def __init__(self, *args, **kwargs):
        try:
            bound = signature.bind(self, *args, **kwargs)
            was_given = set(bound.arguments)
            given = {**defaults, **bound.arguments}
            bound.arguments.update({argument: value for argument, value, _ in ddp_wishes.values() if argument in given})
        except Exception:
            return original(self, *args, **kwargs)
        original(*bound.args, **bound.kwargs)  # never twice: all ranks talk to each other in it
        for argument, value, count in ddp_wishes.values():
            count.tell_change("DistributedDataParallel", argument, value, given[argument],
                              Argument(type(self), argument, value, position_in(signature, argument), argument in was_given))
        return None

    return __init__


def pull_ddp(lever, argument, read):
    def pull(torch, value):
        wished = read(value)
        parallel = getattr(getattr(torch.nn, "parallel", None), "DistributedDataParallel", None)
        if parallel is None or argument not in inspect.signature(parallel.__init__).parameters:
            raise Unavailable("this version of torch has no DistributedDataParallel(%s)" % argument)
        if not ddp_wishes:
            wrap(parallel, "__init__", make_ddp_init)
        ddp_wishes[lever] = (argument, wished, Count(lever))
        return "no DistributedDataParallel was made"

    return pull


# Saving.

saving = {}  # "folder" -> Elsewhere, "none" -> the count of what was not saved


class Elsewhere:
    """Saved files that lie in another folder than the program believes, and its calls that name them: it may rename, link, or copy what it
    saved, look whether it is there, read, or remove it."""

    def __init__(self, folder):
        self.folder, self.paths, self.count = os.path.abspath(folder), {}, Count("save_folder")
        self.numbers = itertools.count(1)

    @staticmethod
    def key(path):
        try:
            return os.path.abspath(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else None
        except OSError:  # the folder that the program runs in is gone
            return None

    def place(self, path):
        """Where to write instead. Numbered, as files of different folders have the same names."""
        key = self.key(path)
        if key not in self.paths:
            os.makedirs(self.folder, exist_ok=True)
            self.paths[key] = os.path.join(self.folder, "%d-%s" % (next(self.numbers), os.path.basename(key)))
        return self.paths[key]

    def save(self, path):
        place = self.place(path)
        self.count.tell("torch.save(%s) went elsewhere" % shown(os.fspath(path)))
        return place

    def find(self, path):
        return self.paths.get(self.key(path), path) if self.paths else path

    def make_move(self, original):
        def move(src, dst, *args, **kwargs):
            there = self.paths.pop(self.key(src), None)
            if there is None:
                return original(src, dst, *args, **kwargs)
            self.paths[self.key(dst)] = there
            return None

        return move

    def make_link(self, original):
        """A second name of it. What a symbolic link says counts from where it is."""
        def link(src, dst, *args, **kwargs):
            there = self.find(src)
            if there is src and self.paths and isinstance(src, (str, pathlib.PurePath)) and isinstance(dst, (str, pathlib.PurePath)):
                beside = os.path.join(os.path.dirname(dst), src)
                there = src if self.find(beside) is beside else self.find(beside)
            if there is src:
                return original(src, dst, *args, **kwargs)
            return original(there, self.place(dst))

        return link

    def make_copy(self, original):
        """Of what a file says, or of what is known of it."""
        def copy(src, dst, *args, **kwargs):
            there = self.find(src)
            if there is src:
                return original(src, dst, *args, **kwargs)
            original(there, self.place(dst), *args, **kwargs)
            return dst

        return copy

    def make_remove(self, original):
        def remove(path, *args, **kwargs):
            return original(self.paths.pop(self.key(path), path), *args, **kwargs)

        return remove

    def make_read(self, original):
        def read(path, *args, **kwargs):
            return original(self.find(path), *args, **kwargs)

        return read

    def make_open(self, original):
        def open_(file, mode="r", *args, **kwargs):
            return original(self.find(file) if mode in ("r", "rb", "rt") else file, mode, *args, **kwargs)

        return open_

    def watch(self, torch):
        """The sets in os that say what a function can do know it by itself."""
        sets = [vars(os)[name] for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks", "supports_effective_ids")]
        for owner, make, names in ((os, self.make_move, ("replace", "rename")), (os, self.make_link, ("link", "symlink")),
                                   (os, self.make_remove, ("remove", "unlink")), (os, self.make_read, ("stat",)),
                                   (shutil, self.make_copy, ("copyfile", "copystat", "copymode")),
                                   (builtins, self.make_open, ("open",))):
            for name in names:
                original = getattr(owner, name)
                wrap(owner, name, make)
                for known in sets:
                    known.update({getattr(owner, name)} if original in known else ())
        if hasattr(torch.serialization, "load"):
            wrap(torch.serialization, "load", self.make_read)
            torch.load = torch.serialization.load


def make_save(original):
    def save(obj, f, *args, **kwargs):
        if isinstance(f, io.BytesIO):  # no file: the program reads it itself
            return original(obj, f, *args, **kwargs)
        elsewhere, none = saving.get("folder"), saving.get("none")
        if none and not elsewhere:
            return none.tell("torch.save() saves nothing")
        path = f
        if elsewhere and isinstance(f, (str, os.PathLike)):
            try:
                path = elsewhere.save(f)
            except Exception as error:
                elsewhere.count.tell_why_not("%s: %s" % (type(error).__name__, error))
        if none:
            none.tell("torch.save() saves nothing")
            obj = None  # a file is there, for a program that goes on to rename it
        return original(obj, path, *args, **kwargs)

    return save


def pull_save(torch, name, made):
    if not saving:
        wrap(torch.serialization, "save", make_save)
        torch.save = torch.serialization.save
    saving[name] = made
    return "nothing was saved"


def pull_checkpoints(torch, value):
    require(value, "none")
    return pull_save(torch, "none", Count("checkpoints"))


def pull_save_folder(torch, value):
    elsewhere = Elsewhere(value)
    elsewhere.watch(torch)
    return pull_save(torch, "folder", elsewhere)


# Losses, read without waiting for the GPU: they are copied to pinned memory in the order of the stream.


class Losses:
    """Of a backward pass with several, each is one. Where GradScaler scales them, they are scaled."""

    def __init__(self, torch):
        self.torch, self.buffer = torch, None
        self.values = []  # None: on its way, to the same place in the buffer
        self.copies = collections.deque()  # (event after it, index)
        self.texts, self.told = [], 0  # of those in front of the first that is on its way

    def take(self, tensors):
        for loss in [tensors] if isinstance(tensors, self.torch.Tensor) else tensors:
            if isinstance(loss, self.torch.Tensor) and loss.numel() == 1 and len(self.values) < MOST_LOSSES:
                self.read(loss.detach())
        while self.copies and self.copies[0][0].query():
            index = self.copies.popleft()[1]
            self.values[index] = self.buffer[index].item()
        while len(self.texts) < len(self.values) and self.values[len(self.texts)] is not None:
            self.texts.append(self.values[len(self.texts)].hex())
        count = len(self.texts)
        if count > self.told and (count < LOSSES_A_NOTE or count - self.told >= LOSSES_A_NOTE or count == MOST_LOSSES):
            self.told = count
            note("losses", count, ",".join(self.texts))

    def read(self, loss):
        """Those that have no value, such as while a graph is captured or a compiler traces, are left out."""
        loss = loss.to_local() if hasattr(loss, "to_local") else loss
        if loss.is_complex():
            return
        if loss.device.type == "cpu":
            try:
                self.values.append(float(loss))
            except Exception:
                pass
        elif loss.is_cuda and not self.torch.cuda.is_current_stream_capturing():
            self.copy(loss)

    def copy(self, loss):
        torch, index = self.torch, len(self.values)
        if self.buffer is None:
            self.buffer = torch.empty(MOST_LOSSES, dtype=torch.float64, device="cpu", pin_memory=True)
        self.buffer[index:index + 1].copy_(loss.reshape(1).double(), non_blocking=True)
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(loss.device))
        self.values.append(None)
        self.copies.append((event, index))


def pull_losses(torch, value):
    require(value, "1")
    call_after_backward(torch, "losses", Losses(torch).take)
    return "no loss was seen"


def pull_diff(torch, value):
    require(value, "1")
    global call_diff
    call_diff = CallDiff()
    return "no call of the program was changed"


# Each is given torch and the value. It returns why the lever takes no effect as long as nothing else is told, if that is so.
LEVERS = {
    "num_workers": pull_loader("num_workers", "num_workers", int),
    "prefetch_factor": pull_loader("prefetch_factor", "prefetch_factor", int),
    "persistent_workers": pull_loader("persistent_workers", "persistent_workers", is_true),
    "pin_memory": pull_loader("pin_memory", "pin_memory", is_true),
    "start_method": pull_loader("start_method", "multiprocessing_context", str),
    "non_blocking": pull_non_blocking,
    "fused_optimizer": pull_optimizer("fused"),
    "foreach_optimizer": pull_optimizer("foreach"),
    "set_to_none": pull_set_to_none,
    "gc_freeze": pull_gc_freeze,
    "gc_threshold": pull_gc_threshold,
    "empty_cache": pull_empty_cache,
    "matmul_precision": pull_matmul_precision,
    "autocast": pull_autocast,
    "cudnn_benchmark": pull_cudnn_benchmark,
    "sdpa": pull_sdpa,
    "compile": pull_compile,
    "channels_last": pull_channels_last,
    "ddp_bucket_mb": pull_ddp("ddp_bucket_mb", "bucket_cap_mb", float),
    "ddp_bucket_view": pull_ddp("ddp_bucket_view", "gradient_as_bucket_view", is_true),
    "ddp_static_graph": pull_ddp("ddp_static_graph", "static_graph", is_true),
    "checkpoints": pull_checkpoints,
    "save_folder": pull_save_folder,
    "losses": pull_losses,
    "diff": pull_diff,
}


def pull(torch):
    try:
        hide_from_compiler(torch)
    except Exception:  # another version's compiler: it takes our wrappers for the program's
        pass
    for lever, value in asked.items():  # noqa: F821
        try:
            why_not_yet = LEVERS[lever](torch, value)
        except Unavailable as error:
            why_not_yet = str(error)
        except Exception as error:
            why_not_yet = "it failed: %s: %s" % (type(error).__name__, error)
        if why_not_yet:
            note(lever, 0, why_not_yet)


class Finder:
    """Finds torch by all the others, and has the levers pulled once it is loaded. If that fails, the program may try again."""

    is_looking = is_done = False

    def find_spec(self, name, path=None, target=None):
        if name != MODULE or self.is_looking or self.is_done:
            return None
        self.is_looking = True
        try:
            spec = self.ask_others(name, path, target)
        finally:
            self.is_looking = False
        try:
            if spec is not None:
                self.watch(spec.loader)
        except Exception as error:
            for lever in asked:  # noqa: F821
                note(lever, 0, "torch is loaded in a way that cannot be watched: %s" % error)
        return spec

    def ask_others(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None) if finder is not self else None
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                return spec
        return None

    def watch(self, loader):
        load = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)  # the instance's: the loader is as it was
            load(module)
            if not self.is_done:
                self.is_done = True
                if self in sys.meta_path:
                    sys.meta_path.remove(self)
                pull(module)

        loader.exec_module = exec_module


def install():
    if asked:  # noqa: F821
        sys.meta_path.insert(0, Finder())


install()
