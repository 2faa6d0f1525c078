# SPDX-License-Identifier: Apache-2.0
"""Stands in places that it knows, on the fake GPU, and prints them as JSON: CPython 3.8 and later, nothing but the standard library.

Scenes, one a call: `held`, threads that stand still in all kinds of code; `busy`, calls and returns as fast as they can be made;
`modules`, modules of a model one after another, as PyTorch calls them; `shares`, so much time in each of some lines; `threads`, threads that begin and end; `fork`, children while samples are taken; `calls`,
calls into CUDA; `deep`, a recursion without an end.
"""

import asyncio
import atexit
import contextlib
import ctypes
import json
import os
import sys
import threading
import time
import warnings


class Gpu:
    def __init__(self):
        self.runtime, self.memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
        self.runtime.cudaMalloc(ctypes.byref(self.memory), ctypes.c_size_t(4096))
        Gpu.instance = self
        self.work()

    def work(self):
        self.runtime.cudaMemsetAsync(self.memory, 0, ctypes.c_size_t(4096), None)


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def frames_of(frame):
    """From the innermost one on."""
    frames = []
    while frame is not None:
        frames.append([name_of(frame.f_code), frame.f_code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return frames


# Where a thread can stand. Each waits inside.

def in_function(wait):
    wait()


def in_method(wait):
    class Layer:
        def forward(self):
            wait()

        def __call__(self):
            return self.forward()

    Layer()()


def in_lambda(wait):
    (lambda: (
        wait()))()


def in_generator(wait):
    def numbers():
        yield 1
        wait()
        yield 2

    def outer():
        yield from numbers()

    list(outer())


def in_comprehension(wait):
    return [
        wait()
        for _ in range(1)
    ]


def in_coroutine(wait):
    async def inner():
        await asyncio.sleep(0)
        wait()

    async def outer():
        await inner()

    asyncio.run(outer())


def in_exec(wait):
    exec(compile("\n\ndef made(wait):\n    for _ in range(1):\n        wait()\nmade(wait)\n", "<made by exec>", "exec"), {"wait": wait})


def in_names(wait):
    space = {"wait": wait}
    for number, name in enumerate(("größe", "размер", "大きさ", "数𠀀")):
        below = "wait" if number == 0 else last
        exec(compile(f"\ndef {name}(): {below}()", f"/tmp/pfad-{name}-é.py", "exec"), space)
        last = name
    space[last]()


def in_recursion(wait, depth=300):
    if depth == 0:
        return wait()
    return in_recursion(wait, depth - 1)


def in_callback(wait):
    sorted([2, 1], key=lambda value: (wait() if value == 2 else None) or 0)


def in_with(wait):
    @contextlib.contextmanager
    def manager():
        wait()
        yield

    with manager():
        pass


def in_many_lines(wait):
    value = 0
    value += 1; value += 2; wait()  # noqa: E702
    return [value, value
            ]


def in_long_function(wait):
    lines = ["def long(wait):"] + ["    x = 1"] * 700 + ["    wait(", "    )"] + ["    x = 1"] * 700
    space = {}
    exec(compile("\n".join(lines), "long.py", "exec"), space)
    space["long"](wait)


def in_gap(wait):
    """Lines far from the first one, and back again."""
    space = {}
    exec(compile("def far(wait):\n" + "\n" * 3000 + "    x = [\n" + "\n" * 400 + "        wait()]\n", "far.py", "exec"), space)
    space["far"](wait)


PLACES = [value for name, value in sorted(globals().items()) if name.startswith("in_")]


def held(_):
    truths = []
    for place in PLACES:
        ready, go, tid = threading.Event(), threading.Event(), []

        def wait(ready=ready, go=go, tid=tid):
            tid.append(threading.get_native_id())
            ready.set()
            go.wait()

        thread = threading.Thread(target=place, args=(wait,), name=place.__name__, daemon=True)
        thread.start()
        assert ready.wait(20), place
        time.sleep(0.02)  # until it waits
        start = time.time_ns()
        time.sleep(0.25)
        frames = frames_of(sys._current_frames()[thread.ident])
        truths.append({"place": place.__name__, "tid": tid[0], "start": start, "end": time.time_ns(), "frames": frames})
        go.set()
        thread.join()
    return {"held": truths}


class Maze:
    """Calls that return at once, in an order that does not repeat."""

    def __init__(self):
        self.number = 12345

    def choose(self, among):
        self.number = (self.number * 1103515245 + 12345) % 2 ** 31
        return self.number // 65536 % among

    def first(self, depth):
        if depth == 0:
            return 0
        if self.choose(2):
            return self.second(depth - 1)
        total = self.third(depth - 1)
        return total + self.first(depth - 1)

    def second(self, depth):
        return sum(self.numbers(depth))

    def third(self, depth):
        if depth == 0:
            return 1
        return (lambda: self.first(depth - 1))()

    def numbers(self, depth):
        yield 1
        if depth > 0:
            yield self.third(depth - 1)
        yield from [2, 3]


def busy(seconds):
    edges = set()

    def note(frame, event, _):
        if event == "call" and frame.f_back is not None:
            back = frame.f_back
            edges.add((name_of(back.f_code), back.f_lineno, name_of(frame.f_code)))

    maze = Maze()
    sys.setprofile(note)
    for _ in range(3000):
        maze.first(7)
    sys.setprofile(None)
    threads, end = [], time.monotonic() + float(seconds)

    def run():
        maze = Maze()
        while time.monotonic() < end:
            maze.first(7)

    for _ in range(2):
        threads.append(threading.Thread(target=run))
        threads[-1].start()
    tids = [thread.native_id for thread in threads]
    for thread in threads:
        thread.join()
    return {"edges": sorted(edges), "tids": tids}


def ending(_):
    """The interpreter ends while threads run, and while this one runs its last functions."""
    def run():
        maze = Maze()
        while True:
            maze.first(7)

    for _ in range(3):
        threading.Thread(target=run, daemon=True).start()
    atexit.register(in_recursion, lambda: time.sleep(0.05), 100)
    time.sleep(0.3)
    return {}


def mixed(seconds):
    """One thread computes, two wait as those of loaders do."""
    end = threading.Event()
    for _ in range(2):
        threading.Thread(target=end.wait).start()
    told = shares(seconds)
    end.set()
    return told


def shares(seconds):
    """Lines of so many parts of the time, by the program's own clock."""
    spent = {}

    def spin(part):
        end = time.perf_counter() + part
        while time.perf_counter() < end:
            pass

    start = time.perf_counter()
    while time.perf_counter() < start + float(seconds):
        Gpu.instance.work()
        for part in (0.010, 0.005, 0.001):
            before = time.perf_counter()
            if part == 0.010:
                spin(part)  # ten
            elif part == 0.005:
                time.sleep(part)  # five
            else:
                spin(part)  # one
            spent[part] = spent.get(part, 0) + time.perf_counter() - before
    return {"spent": spent, "total": time.perf_counter() - start}


def threads(seconds):
    end, count = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        some = [threading.Thread(target=in_recursion, args=(lambda: None, 20)) for _ in range(8)]
        for thread in some:
            thread.start()
        for thread in some:
            thread.join()
        count += len(some)
    return {"threads": count}


def fork(seconds):
    end, count = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        child = os.fork()
        if child == 0:
            in_recursion(lambda: None, 50)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7 if hasattr(os, "waitstatus_to_exitcode") else os.waitpid(child, 0)
        count += 1
    return {"children": count}


class Kernel(ctypes.Structure):
    """KernelCode of the fake GPU."""
    _fields_ = [("magic", ctypes.c_uint64), ("name", ctypes.c_char_p), ("dur_ns", ctypes.c_int64), ("registers", ctypes.c_int32), ("static_shared", ctypes.c_int32),
                ("local", ctypes.c_uint32)]


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


def calls(count):
    """Launches from two lines, and a wait; as a program that is linked with CUDA calls it, not through a handle of the library."""
    linked = ctypes.CDLL(None)
    one, small, large = Dim3(1, 1, 1), Kernel(0x4b45524e454c4b31, b"small", 20_000, 32, 0, 0), Kernel(0x4b45524e454c4b31, b"large", 3_000_000, 32, 0, 0)

    def launch_small():
        linked.cudaLaunchKernel(ctypes.byref(small), one, one, None, ctypes.c_size_t(0), None)  # small

    def launch_large():
        linked.cudaLaunchKernel(ctypes.byref(large), one, one, None, ctypes.c_size_t(0), None)  # large

    for _ in range(int(count)):
        launch_small()
        launch_large()
        linked.cudaStreamSynchronize(None)  # wait
    memory = ctypes.c_void_p()
    linked.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    return {"count": int(count)}


# How PyTorch keeps modules.
MODULE = """
class Module:
    def __init__(self):
        super().__setattr__("training", True)
        super().__setattr__("_parameters", {})
        super().__setattr__("_modules", {})

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self.__dict__["_modules"][name] = value
        else:
            super().__setattr__(name, value)

    def __getattr__(self, name):
        return self.__dict__["_modules"][name]

"""
# How it calls them: since 2.0, with a closure over self, and before.
CALLS = ("""
    def _wrapped_call_impl(self, *args):
        return self._call_impl(*args)

    def _call_impl(self, *args):
        def inner():
            return self.forward(*args)
        return inner()

    __call__ = _wrapped_call_impl
""", """
    def _call_impl(self, *args):
        return self.forward(*args)

    __call__ = _call_impl
""")


def modules(seconds):
    spent, names = [], {}

    class Leaf:
        def forward(self):
            start = time.time_ns()
            time.sleep(float(seconds))
            spent.append((names.get(id(self), type(self).__name__), start, time.time_ns()))

    def models(module):
        class Linear(Leaf, module):
            pass

        class Loss(Leaf, module):
            pass

        class Many(module):  # like ModuleList: nothing asks for its dict
            def __init__(self, parts):
                super().__init__()
                for i, part in enumerate(parts):
                    self._modules[str(i)] = part

            def forward(self):
                for part in self._modules.values():
                    part()

        class Block(module):
            def __init__(self):
                super().__init__()
                self.attn, self.mlp, self.note = Linear(), Many([Linear(), Linear()]), "a block"

            def forward(self):
                self.attn()
                self.mlp()

        class Net(module):
            def __init__(self):
                super().__init__()
                for i in range(40):  # more than the first size of a dict
                    setattr(self, f"option_{i}", i)
                self.embed, self.h = Linear(), Many([Block(), Block()])

            def forward(self):
                self.embed()
                for block in self.h._modules.values():
                    block()
                loss()

        class Wrapper(module):
            def __init__(self, inner):
                super().__init__()
                self.module = inner

            def forward(self):
                return self.module()

        loss = Loss()  # of no model
        return Wrapper(Net()), Net()

    def name(module, path):
        names[id(module)] = path
        for key, part in module._modules.items():
            name(part, f"{path}.{key}")

    for calls in CALLS:
        space = {}
        exec(compile(MODULE + calls, "/opt/site-packages/torch/nn/modules/module.py", "exec"), space)
        wrapped, plain = models(space["Module"])
        name(wrapped, "Wrapper")
        name(plain, "Net")
        wrapped()
        plain()
        block = plain.h._modules["1"]
        name(block, "Block")  # called where nothing outside of it runs, as in a recomputation
        thread = threading.Thread(target=lambda: block())
        thread.start()
        thread.join()
    return {"spent": spent}


def deep(seconds):
    sys.setrecursionlimit(5000)
    in_recursion(lambda: time.sleep(float(seconds)), 1500)
    return {}


SCENES = {"held": held, "busy": busy, "shares": shares, "threads": threads, "fork": fork, "deep": deep, "calls": calls, "ending": ending, "mixed": mixed,
          "modules": modules}


def main():
    warnings.simplefilter("ignore")  # forks beside our threads
    Gpu()
    time.sleep(1)  # until the file is there, and with it the samples
    scene, argument = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    told = SCENES[scene](argument)
    Gpu.instance.work()
    print(json.dumps({**told, "python": sys.version.split()[0], "pid": os.getpid()}))


if __name__ == "__main__":
    main()
