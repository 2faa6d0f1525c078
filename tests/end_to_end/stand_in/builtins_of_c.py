# SPDX-License-Identifier: Apache-2.0
"""Makes functions of C around functions of Python (builtins.cc): what is C++ in PyTorch and Triton is such a one in their stand-ins.

Environment: STAND_IN_BUILTINS, the library.
"""

import ctypes
import os

_library = ctypes.PyDLL(os.environ["STAND_IN_BUILTINS"])
_make = _library.stand_in_builtin
_make.restype = ctypes.py_object
_make.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
_kept = []
_instancemethod = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(("PyInstanceMethod_New", ctypes.pythonapi))


def had_dictionary():
    """Whether the last call of one that takes a tuple came with a dictionary of arguments, be it empty."""
    return bool(_library.stand_in_had_dictionary())


def builtin(function, module=None, fast=False):
    """`module`: an object of type module, in which pickle finds it. `fast`: it takes its arguments as an array."""
    name = module and module.__name__
    _kept.append((module, name))
    return _make(function.__name__.encode(), (function.__doc__ or "").encode(), function, module and id(module), name and id(name), fast)


def method(function):
    """In a class, as pybind11 makes it."""
    return _instancemethod(builtin(function))
