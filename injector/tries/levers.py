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
# wrapped. What fails here is told and changes nothing: each wrapper falls back to the call as the program made it.

import functools
import gc
import importlib.abc
import importlib.util
import inspect
import itertools
import os
import sys
import threading

MODULE = "torch"
MOST_LOSSES = 4096
LOSSES_A_NOTE = 16
OWN_FILE = (lambda: 0).__code__.co_filename
PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep, os.path.dirname(os.__file__) + os.sep)
collect_garbage = gc.collect  # before a lever takes it away
TOLD_EACH = 8  # after so many times, only powers of two are told
MOST_MODULES = 8  # outermost ones that are changed: a program may have several, such as the two of a GAN


def place():
    """Where the program called: "train.py:41", of the nearest frame outside of installed packages; without one, outside of torch."""
    frame, of_package = sys._getframe(1), None
    folder = os.path.dirname(getattr(sys.modules.get(MODULE), "__file__", None) or "/?") + os.sep
    while frame is not None:
        name = frame.f_code.co_filename
        if name != OWN_FILE and not name.startswith((folder, "<")):
            text = "%s:%d" % (os.path.basename(name), frame.f_lineno)
            if not any(part in name for part in PACKAGES):
                return text
            of_package = of_package or text
        frame = frame.f_back
    return of_package or "the program"


class Count:
    """How often a lever took effect."""

    def __init__(self, lever):
        self.lever, self.times = lever, 0

    def tell(self, text):
        """It took effect."""
        self.times += 1
        if self.times <= TOLD_EACH or self.times & (self.times - 1) == 0:
            tell(self.lever, self.times, text if text.startswith("the ") else "%s %s" % (place(), text))  # noqa: F821

    def tell_why_not(self, text):
        """It did not here; what it did elsewhere stays."""
        if not self.times:
            tell(self.lever, 0, "%s: %s" % (place(), text))  # noqa: F821

    def tell_change(self, what, name, value, before):
        """An argument of a call, which may have been so already."""
        if before is not None and before == value:
            self.tell_why_not("it is %s(%s=%r) already" % (what, name, value))
        else:
            self.tell("%s(%s=%r), was %r" % (what, name, value, before))


def wrap(owner, name, make):
    """Puts make(original) into the place of a function; False: there is none."""
    original = getattr(owner, name, None)
    if original is None:
        return False
    setattr(owner, name, functools.wraps(original)(make(original)))
    return True


def is_true(value):
    return value not in ("0", "False", "false", "no", "off")


# What happens in a program's backward pass, which each step of a training has: what wants to know is called with the tensors.
after_backward = []


def watch_backward(torch):
    def make(original):
        def backward(*args, **kwargs):
            result = original(*args, **kwargs)
            for seen in list(after_backward):
                try:
                    seen(args[0] if args else kwargs.get("tensors"))
                except Exception:  # ours; the program's own came through above
                    after_backward.remove(seen)
            return result

        return backward

    # Tensor.backward() looks this up when it is called.
    autograd = getattr(torch, "autograd", None)
    return autograd is not None and wrap(autograd, "backward", make)


def call_at(times, function):
    """After each of these backward passes, counted from 1."""
    count = itertools.count(1)

    def seen(_):
        if next(count) in times:
            function()

    after_backward.append(seen)


# Data loaders.


def plan_loader(given, defaults, dataset):
    """{name: value} of the arguments of a DataLoader that are to be others, and why some are not."""
    wanted, why_not = {}, {}
    is_iterable = any(kind.__name__ == "IterableDataset" for kind in type(dataset).__mro__)
    if "num_workers" in asked:  # noqa: F821
        if is_iterable and not given["num_workers"]:
            why_not["num_workers"] = "an IterableDataset may give its data twice"
        else:
            wanted["num_workers"] = int(asked["num_workers"])  # noqa: F821
    if "pin_memory" in asked:  # noqa: F821
        wanted["pin_memory"] = is_true(asked["pin_memory"])  # noqa: F821
    workers = wanted.get("num_workers", given["num_workers"])
    of_workers = {"prefetch_factor": ("prefetch_factor", int), "persistent_workers": ("persistent_workers", is_true),
                  "start_method": ("multiprocessing_context", str)}
    for lever, (argument, read) in of_workers.items():
        if argument not in given:
            why_not[lever] = "this version of torch has no DataLoader(%s)" % argument
        elif not workers:
            wanted[argument] = defaults[argument]  # torch refuses others where there are no workers
            why_not[lever] = "the loader has no workers"
        elif lever in asked:  # noqa: F821
            wanted[argument] = read(asked[lever])  # noqa: F821
    return wanted, why_not


def pull_loader(torch):
    levers = {"num_workers": "num_workers", "pin_memory": "pin_memory", "prefetch_factor": "prefetch_factor",
              "persistent_workers": "persistent_workers", "start_method": "multiprocessing_context"}
    counts = {lever: Count(lever) for lever in levers}

    def make(original):
        signature = inspect.signature(original)
        defaults = {name: one.default for name, one in signature.parameters.items()}

        def __init__(self, *args, **kwargs):
            try:
                bound = signature.bind(self, *args, **kwargs)
                given = {name: bound.arguments.get(name, defaults[name]) for name in defaults if name not in ("self", "args", "kwargs")}
                wanted, why_not = plan_loader(given, defaults, given.get("dataset"))
                bound.arguments.update(wanted)
                told = [(lever, argument, given[argument]) for lever, argument in levers.items()
                        if lever in asked and argument in wanted and lever not in why_not]  # noqa: F821
            except Exception:
                return original(self, *args, **kwargs)
            result = original(*bound.args, **bound.kwargs)
            for lever, argument, before in told:
                counts[lever].tell_change("DataLoader", argument, wanted[argument], before)
            for lever, why in why_not.items():
                counts[lever].tell_why_not(why)
            return result

        return __init__

    return wrap(torch.utils.data.DataLoader, "__init__", make)


def pull_non_blocking(torch, value):
    count = Count("non_blocking")

    def is_upload(tensor, args, kwargs, is_cuda):
        if "non_blocking" in kwargs or any(isinstance(arg, bool) for arg in args) or tensor.device.type != "cpu":
            return False
        target = kwargs.get("device", args[0] if args else ("cuda" if is_cuda else None))
        if isinstance(target, torch.Tensor):
            target = target.device
        return (is_cuda or isinstance(target, int) or str(target).startswith("cuda")) and tensor.is_pinned()

    def make(is_cuda):
        def of(original):
            def copy(self, *args, **kwargs):
                try:
                    if is_upload(self, args, kwargs, is_cuda):
                        kwargs["non_blocking"] = True
                        count.tell("tensor.%s(non_blocking=True)" % ("cuda" if is_cuda else "to"))
                except Exception:
                    pass
                return original(self, *args, **kwargs)

            return copy

        return of

    return wrap(torch.Tensor, "to", make(False)) and wrap(torch.Tensor, "cuda", make(True))


# Optimizers.


def optimizer_classes(torch):
    base = torch.optim.Optimizer
    return [kind for kind in vars(torch.optim).values() if isinstance(kind, type) and issubclass(kind, base) and kind is not base]


def tensors_of(params):
    """(tensors, what to pass on in place of params, which may be an iterator)."""
    params = list(params)
    tensors = []
    for one in params:
        if isinstance(one, dict):
            one["params"] = [one["params"]] if hasattr(one["params"], "is_floating_point") else list(one["params"])
            tensors += one["params"]
        else:
            tensors.append(one[1] if isinstance(one, tuple) else one)
    return tensors, params


def pull_optimizer(name):
    """`fused` or `foreach` of all optimizers that have it."""
    lever = name + "_optimizer"

    def pull(torch, value):
        count, found = Count(lever), False

        def make(original):
            signature = inspect.signature(original)

            def __init__(self, *args, **kwargs):
                if getattr(self, "_traceinject_tried", False):  # a class that calls another's
                    return original(self, *args, **kwargs)
                try:
                    bound = signature.bind(self, *args, **kwargs)
                    before = bound.arguments.get(name)
                    tensors, passed = tensors_of(bound.arguments["params"])
                    bound.arguments["params"] = passed
                    args, kwargs = bound.args[1:], dict(bound.kwargs)
                    able = all(tensor.is_cuda and tensor.is_floating_point() for tensor in tensors)
                    if not able and name == "fused":
                        count.tell_why_not("parameters are not all floating-point ones on a GPU")
                        return original(self, *args, **kwargs)
                    bound.arguments[name] = is_true(value)
                    if name == "foreach" and bound.arguments.get("fused"):
                        count.tell_why_not("it is fused, which is faster")
                        return original(self, *args, **kwargs)
                    if name == "fused" and "foreach" in signature.parameters:
                        bound.arguments["foreach"] = None
                    self._traceinject_tried = True
                    original(*bound.args, **bound.kwargs)
                except Exception as error:
                    count.tell_why_not(str(error))
                    return original(self, *args, **kwargs)
                finally:
                    self.__dict__.pop("_traceinject_tried", None)
                return count.tell_change(type(self).__name__, name, is_true(value), before)

            return __init__

        for kind in optimizer_classes(torch):
            if name in inspect.signature(kind.__init__).parameters and "__init__" in vars(kind):
                found = wrap(kind, "__init__", make) or found
        return found or "the optimizers of this version of torch have no %s" % name

    return pull


def pull_set_to_none(torch, value):
    count = Count("set_to_none")

    def make(original):
        has_it = "set_to_none" in inspect.signature(original).parameters

        def zero_grad(self, *args, **kwargs):
            if has_it:
                args, kwargs = (), dict(kwargs, set_to_none=is_true(value))
                count.tell("zero_grad(set_to_none=%r)" % is_true(value))
            return original(self, *args, **kwargs)

        return zero_grad

    optimizer = wrap(torch.optim.Optimizer, "zero_grad", make)
    module = wrap(torch.nn.Module, "zero_grad", make) if hasattr(torch.nn, "Module") else False
    return optimizer or module or "this version of torch has no zero_grad()"


# The interpreter's memory, and the GPU's.


def pull_gc_freeze(torch, value):
    count = Count("gc_freeze")

    def freeze():
        collect_garbage()
        gc.freeze()
        count.tell("the %d objects alive after %s backward passes are frozen" % (gc.get_freeze_count(), value))

    call_at((int(value),), freeze)
    return watches_backward(torch)


def pull_gc_threshold(torch, value):
    """The program's own wishes count for nothing; without any collections its gc.collect() does nothing, either."""
    before, count = gc.get_threshold(), Count("gc_threshold")
    gc.set_threshold(int(value))
    count.tell("the threshold of collections is %s, was %d" % (value, before[0]))
    gc.set_threshold = lambda *_: None
    if int(value) == 0:
        def collect_nothing(*args, **kwargs):
            count.tell("gc.collect() does nothing")
            return 0

        gc.collect = functools.wraps(collect_garbage)(collect_nothing)
    return True


def pull_empty_cache(torch, value):
    count = Count("empty_cache")

    def make(original):
        def empty_cache():
            count.tell("torch.cuda.empty_cache() does nothing")

        return empty_cache

    memory = getattr(torch.cuda, "memory", None)
    if memory is not None:
        wrap(memory, "empty_cache", make)
    return wrap(torch.cuda, "empty_cache", make)


# Precision and kernels.


def pull_matmul_precision(torch, value):
    count = Count("matmul_precision")
    set_precision = getattr(torch, "set_float32_matmul_precision", None)
    if set_precision is None:
        return "this version of torch has no set_float32_matmul_precision()"

    def apply():
        before = torch.get_float32_matmul_precision()
        if before == value and count.times:
            return
        set_precision(value)
        torch.backends.cudnn.allow_tf32 = value != "highest"
        count.tell("the precision of matrix products is %r, was %r" % (value, before))

    apply()
    wrap(torch, "set_float32_matmul_precision", lambda _: lambda precision: None)
    call_at((1, 2, 10), apply)  # programs that write to torch.backends do so before they train
    watches_backward(torch)
    return True


def pull_cudnn_benchmark(torch, value):
    count = Count("cudnn_benchmark")

    def apply():
        before = torch.backends.cudnn.benchmark
        if before != is_true(value) or not count.times:
            torch.backends.cudnn.benchmark = is_true(value)
            count.tell("the search of cuDNN's fastest kernels is %r, was %r" % (is_true(value), before))

    apply()
    call_at((1, 2), apply)
    watches_backward(torch)
    return True


def pull_autocast(torch, value):
    count = Count("autocast")
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(value)
    if kind is None:
        return "it is bf16 or fp16"

    def apply():
        if hasattr(torch, "set_autocast_dtype"):
            torch.set_autocast_dtype("cuda", kind)
            torch.set_autocast_enabled("cuda", True)
        else:
            torch.set_autocast_gpu_dtype(kind)
            torch.set_autocast_enabled(True)
        # Copies of weights would be kept for good, and be old after a step.
        torch.set_autocast_cache_enabled(False)

    apply()
    count.tell("the main thread is in torch.autocast(\"cuda\", %s)" % kind)
    call_at(range(1, 10), apply)
    watches_backward(torch)
    return True


def pull_sdpa(torch, value):
    backends = torch.backends.cuda
    switches = {"flash": "enable_flash_sdp", "efficient": "enable_mem_efficient_sdp", "cudnn": "enable_cudnn_sdp", "math": "enable_math_sdp"}
    if not hasattr(backends, switches.get(value, "?")):
        return "this version of torch has no such backend"
    for name, switch in switches.items():
        if hasattr(backends, switch):
            getattr(backends, switch)(name in (value, "math"))
    Count("sdpa").tell("the backends of scaled_dot_product_attention are %s and, where that cannot, math" % value)
    return True


# The outermost modules: those that the program calls itself, with parameters on a GPU, in training. They are looked for in the first
# step; when its backward pass is over, Module.__call__ is as it was, and they are changed.


def find_outermost(torch, change):
    modules, depth = [], threading.local()

    def make(original):
        def __call__(self, *args, **kwargs):
            if not getattr(depth, "value", 0) and self.training and not any(self is one for one in modules):
                first = next(iter(self.parameters()), None)
                if first is not None and first.is_cuda and len(modules) < MOST_MODULES:
                    modules.append(self)
            depth.value = getattr(depth, "value", 0) + 1
            try:
                return original(self, *args, **kwargs)
            finally:
                depth.value -= 1

        return __call__

    original = torch.nn.Module.__call__
    torch.nn.Module.__call__ = make(original)

    def apply():
        torch.nn.Module.__call__ = original
        for module in modules:
            change(module)

    call_at((1,), apply)
    return watches_backward(torch)


def pull_compile(torch, value):
    count = Count("compile")
    if not hasattr(torch.nn.Module, "compile"):
        return "this version of torch has no Module.compile()"

    def change(module):
        if getattr(module, "_compiled_call_impl", None) is not None or hasattr(module, "_orig_mod"):
            return count.tell_why_not("%s is compiled already" % type(module).__name__)
        module.compile(mode=value)
        count.tell("torch.compile(%s, mode=%r)" % (type(module).__name__, value))

    return find_outermost(torch, change)


def pull_channels_last(torch, value):
    count = Count("channels_last")
    layout = torch.channels_last

    def convert(given):
        is_image = isinstance(given, torch.Tensor) and given.dim() == 4 and given.is_cuda and given.is_floating_point()
        return given.contiguous(memory_format=layout) if is_image else given

    def change(module):
        module.to(memory_format=layout)
        module.register_forward_pre_hook(lambda _, given: tuple(map(convert, given)))
        count.tell("%s.to(memory_format=torch.channels_last), and its inputs" % type(module).__name__)

    return find_outermost(torch, change)


# Data-parallel training.


def pull_ddp(torch):
    levers = {"ddp_bucket_mb": ("bucket_cap_mb", float), "ddp_bucket_view": ("gradient_as_bucket_view", is_true),
              "ddp_static_graph": ("static_graph", is_true)}
    counts = {lever: Count(lever) for lever in levers}
    parallel = getattr(getattr(torch.nn, "parallel", None), "DistributedDataParallel", None)
    if parallel is None:
        return "this version of torch has no DistributedDataParallel"

    def make(original):
        known = inspect.signature(original).parameters

        def __init__(self, *args, **kwargs):
            told = []
            for lever, (argument, read) in levers.items():
                if lever in asked and argument in known:  # noqa: F821
                    told.append((lever, argument, kwargs.get(argument, known[argument].default)))
                    kwargs[argument] = read(asked[lever])  # noqa: F821
            original(self, *args, **kwargs)
            for lever, argument, before in told:
                counts[lever].tell_change("DistributedDataParallel", argument, kwargs[argument], before)

        return __init__

    return wrap(parallel, "__init__", make)


# Saving.


class Elsewhere:
    """Saved files that lie in another folder than the program believes, and its calls that name them: it may rename what it saved, remove
    it, or load it again."""

    def __init__(self, folder):
        self.folder, self.paths, self.count = folder, {}, Count("save_folder")

    @staticmethod
    def key(path):
        return os.path.abspath(os.fspath(path)) if isinstance(path, (str, os.PathLike)) else None

    def save(self, path):
        os.makedirs(self.folder, exist_ok=True)
        self.count.tell("torch.save(%r) went elsewhere" % os.fspath(path))
        name = "%d-%s" % (self.count.times, os.path.basename(os.fspath(path)))
        return self.paths.setdefault(self.key(path), os.path.join(self.folder, name))

    def find(self, path):
        return self.paths.get(self.key(path), path)

    def watch(self, torch):
        def make_move(original):
            def move(src, dst, *args, **kwargs):
                there = self.paths.pop(self.key(src), None)
                if there is None:
                    return original(src, dst, *args, **kwargs)
                self.paths[self.key(dst)] = there
                return None

            return move

        def make_remove(original):
            def remove(path, *args, **kwargs):
                return original(self.paths.pop(self.key(path), path), *args, **kwargs)

            return remove

        def make_load(original):
            def load(f, *args, **kwargs):
                return original(self.find(f), *args, **kwargs)

            return load

        for name in ("replace", "rename"):
            wrap(os, name, make_move)
        for name in ("remove", "unlink"):
            wrap(os, name, make_remove)
        if wrap(torch.serialization, "load", make_load):
            torch.load = torch.serialization.load


def pull_save(torch):
    """Nothing is saved, or it is elsewhere."""
    folder, saves_nothing = asked.get("save_folder"), asked.get("checkpoints") == "none"  # noqa: F821
    none, elsewhere = Count("checkpoints"), Elsewhere(folder)

    def make(original):
        def save(obj, f, *args, **kwargs):
            if saves_nothing and not folder:
                return none.tell("torch.save() saves nothing")
            try:
                if folder and elsewhere.key(f):
                    f = elsewhere.save(f)
            except OSError:
                pass
            if saves_nothing:
                none.tell("torch.save() saves nothing")
                obj = None  # a file is there, for a program that goes on to rename it
            return original(obj, f, *args, **kwargs)

        return save

    wrap(torch.serialization, "save", make)
    torch.save = torch.serialization.save
    if folder:
        elsewhere.watch(torch)
    return True


# Losses, read without waiting for the GPU: they are copied to pinned memory in the order of the stream.


class Losses:
    def __init__(self, torch):
        self.torch, self.values, self.buffer, self.events = torch, [], None, []
        self.noted = self.read = 0

    def note(self, tensors):
        torch = self.torch
        losses = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        for loss in losses:
            if loss.numel() != 1 or self.noted >= MOST_LOSSES:
                continue
            if loss.is_cuda:
                if torch.cuda.is_current_stream_capturing():
                    continue
                self.copy(loss.detach())
            else:
                self.values.append(float(loss))
                self.noted += 1
        self.take()

    def copy(self, loss):
        torch = self.torch
        if self.buffer is None:
            self.buffer = torch.zeros(MOST_LOSSES, dtype=torch.float64, pin_memory=True)
        self.buffer[self.noted:self.noted + 1].copy_(loss.reshape(1).double(), non_blocking=True)
        self.noted += 1
        if self.noted % LOSSES_A_NOTE == 0 or self.noted < LOSSES_A_NOTE:
            event = torch.cuda.Event()
            event.record()
            self.events.append((self.noted, event))

    def take(self):
        before = len(self.values)
        while self.events and self.events[0][1].query():
            until = self.events.pop(0)[0]
            self.values += self.buffer[len(self.values):until].tolist()
        due = len(self.values) - self.read >= LOSSES_A_NOTE or len(self.values) < LOSSES_A_NOTE
        if due and (len(self.values) > before or len(self.values) > self.read):
            self.read = len(self.values)
            tell("losses", self.read, ",".join(float(value).hex() for value in self.values))  # noqa: F821


def pull_losses(torch, value):
    if not watches_backward(torch):
        return "this version of torch has no torch.autograd.backward()"
    after_backward.append(Losses(torch).note)
    return True


watched = {}


def watches_backward(torch):
    """Once, whoever asks."""
    if "backward" not in watched:
        watched["backward"] = watch_backward(torch)
    return watched["backward"] or "this version of torch has no torch.autograd.backward()"


def of_several(levers, pull):
    """One function that pulls several levers at once."""
    return {lever: pull for lever in levers}


ALONE = {"non_blocking": pull_non_blocking, "fused_optimizer": pull_optimizer("fused"), "foreach_optimizer": pull_optimizer("foreach"),
         "set_to_none": pull_set_to_none, "gc_freeze": pull_gc_freeze, "gc_threshold": pull_gc_threshold, "empty_cache": pull_empty_cache,
         "matmul_precision": pull_matmul_precision, "autocast": pull_autocast, "cudnn_benchmark": pull_cudnn_benchmark, "sdpa": pull_sdpa,
         "compile": pull_compile, "channels_last": pull_channels_last, "losses": pull_losses}
TOGETHER = {**of_several(("num_workers", "prefetch_factor", "persistent_workers", "pin_memory", "start_method"), pull_loader),
            **of_several(("ddp_bucket_mb", "ddp_bucket_view", "ddp_static_graph"), pull_ddp),
            **of_several(("checkpoints", "save_folder"), pull_save)}
NOT_SEEN = {pull_loader: "no DataLoader was made", pull_ddp: "no DistributedDataParallel was made", pull_save: "nothing was saved"}


def pull(torch):
    done = set()
    for lever, value in asked.items():  # noqa: F821
        together = TOGETHER.get(lever)
        if together is not None:
            tell(lever, 0, NOT_SEEN[together])  # noqa: F821
        elif lever not in ("losses", "gc_threshold", "matmul_precision", "autocast", "cudnn_benchmark", "sdpa"):
            tell(lever, 0, "nothing that it is about was called")  # noqa: F821
        if together is not None and together in done:
            continue
        try:
            result = together(torch) if together is not None else ALONE[lever](torch, value)
            done.add(together)
            if isinstance(result, str) or not result:
                tell(lever, 0, result or "this version of torch has nothing that it is about")  # noqa: F821
        except Exception as error:
            tell(lever, 0, "it failed: %s: %s" % (type(error).__name__, error))  # noqa: F821


class Finder(importlib.abc.MetaPathFinder):
    """Waits for torch."""

    def find_spec(self, name, path=None, target=None):
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            del spec.loader.exec_module  # the instance's: the loader is as it was
            load(module)
            pull(module)

        spec.loader.exec_module = exec_module
        return spec


def install():
    sys.meta_path.insert(0, Finder())


install()
