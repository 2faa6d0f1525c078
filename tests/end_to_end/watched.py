# SPDX-License-Identifier: Apache-2.0
"""What the library's Python side observes in this process, which Python itself cannot tell: functions that are called through code of
libtraceinject.so. Standard library only; also for the programs of tests/gpu.
"""

import ctypes
import gc
import sys
import time
import types
import weakref

FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def our_code():
    """Address ranges of the library's code; empty: it is not loaded."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        rows = [line.split() for line in maps if "/libtraceinject.so" in line]
    return [tuple(int(end, 16) for end in row[0].split("-")) for row in rows if "x" in row[1]]


def plain(function):
    """Of a method in a class: its function. By its type: other objects may do anything when they are asked for an attribute."""
    return function.__func__ if type(function).__name__ in ("instancemethod", "staticmethod", "classmethod") else function


def addresses(function):
    """All words of the object, one of which is the address of the C function by which it is called."""
    words = type(function).__basicsize__ // ctypes.sizeof(ctypes.c_void_p)
    return list((ctypes.c_size_t * words).from_address(id(function)))


def is_watched(function, code=None):
    function = plain(function)
    code = our_code() if code is None else code
    return isinstance(function, FUNCTIONS) and any(begin <= address < end for address in addresses(function) for begin, end in code)


def wait_until_watched(*functions, limit_s=20):
    """A function stands for itself. False: they are not all watched by then."""
    end = time.monotonic() + limit_s
    while not all(map(is_watched, functions)):
        if time.monotonic() >= end:
            return False
        time.sleep(0.001)
    return True


def innermost(function):
    """What its decorators call in the end."""
    while isinstance(getattr(function, "__wrapped__", None), FUNCTIONS):
        function = function.__wrapped__
    return function


def unwatched_copy(function):
    """A function of Python that does the same and is not watched."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


class Watches:
    """The watches of functions and of the garbage collector, to be taken out and put back while the program runs."""

    def __init__(self, *functions):
        code = our_code()
        self.slots = []  # (words of the object, which of them, our function, CPython's own)
        for function in map(plain, functions):
            own = (ctypes.c_size_t * (types.FunctionType.__basicsize__ // 8)).from_address(id(unwatched))
            words = (ctypes.c_size_t * (type(function).__basicsize__ // 8)).from_address(id(function))
            for index, address in enumerate(words):
                if any(begin <= address < end for begin, end in code):
                    self.slots.append((words, index, address, own[index] if isinstance(function, types.FunctionType) else 0))
        self.callbacks = [callback for callback in gc.callbacks if getattr(callback, "__name__", "") == "mark_collection"]

    def take_out(self):
        for words, index, _, own in self.slots:
            words[index] = own
        for callback in self.callbacks:
            gc.callbacks.remove(callback)

    def put_back(self):
        for words, index, ours, _ in self.slots:
            words[index] = ours
        gc.callbacks[:0] = self.callbacks


def unwatched():
    """A function that nobody watches."""


def functions_of(modules=None):
    """(path, function) of all functions that modules and the classes in them hold, and of what their decorators wrap."""
    seen = set()
    for module_name, module in list((modules or sys.modules).items()):
        names = getattr(module, "__dict__", None)
        if not isinstance(module, types.ModuleType) or names is None:
            continue
        for name, value in list(names.items()):
            parts = [(f"{module_name}.{name}", value)]
            if isinstance(value, type):
                parts += [(f"{module_name}.{name}.{part}", held) for part, held in list(vars(value).items())]
            for path, function in parts:
                function = plain(function)
                while isinstance(function, FUNCTIONS) and id(function) not in seen:
                    seen.add(id(function))
                    yield path, function
                    function = getattr(function, "__wrapped__", None)


def watched_functions():
    code = our_code()
    return sorted({path for path, function in functions_of() if is_watched(function, code)})


def look(function):
    """All that Python tells of a function."""
    names = ("__name__", "__qualname__", "__module__", "__doc__", "__text_signature__", "__defaults__", "__kwdefaults__")
    looks = [repr(getattr(function, name, None)) for name in names]
    looks += [id(getattr(function, name, None)) for name in ("__code__", "__globals__", "__self__", "__closure__", "__wrapped__")]
    looks.append(hash(function))
    return (type(function).__name__, *looks, sorted(map(str, getattr(function, "__dict__", {}))))


def weakly_referenced():
    """{name of a class: names of its bases} of the objects to which there are weak references."""
    kinds = {type(thing) for thing in gc.get_objects() if weakref.getweakrefcount(thing)}
    return {name_of(kind): [name_of(base) for base in kind.__mro__] for kind in kinds}


def name_of(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def changed_since(before):
    """Paths of what is not as in an earlier snapshot, but for what the stand-in counts."""
    now = snapshot()
    return sorted(path for path in before.keys() | now.keys()
                  if before.get(path) != now.get(path) and not path.endswith(("_asked", "torch._dlpack.views")))


def snapshot():
    """{path: identity and looks} of everything that modules and the classes in them hold."""
    found = {}
    for module_name, module in list(sys.modules.items()):
        names = getattr(module, "__dict__", None)
        if not isinstance(module, types.ModuleType) or names is None:
            continue
        for name, value in list(names.items()):
            found[f"{module_name}.{name}"] = id(value)
            if isinstance(value, type):
                found.update({f"{module_name}.{name}.{part}": id(held) for part, held in list(vars(value).items())})
    found.update({path + "()": (id(function), look(function)) for path, function in functions_of()})
    return found
