# SPDX-License-Identifier: Apache-2.0
"""The table of functions that PyTorch from 2.10 on has for other array libraries (DLPack's C exchange API, dlpack.h 1.3)."""
import ctypes

views = 0  # tensors asked for


class View(ctypes.Structure):  # DLTensor
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


TYPES = {"float32": (2, 32), "float16": (2, 16), "bfloat16": (4, 16)}


def fill(tensor, view):
    global views
    views += 1
    if tensor.wrapped or tensor.is_nested:
        return -1
    tensor.sizes_for_view = (ctypes.c_int64 * len(tensor.sizes))(*tensor.sizes)
    code, bits = TYPES[tensor.dtype]
    view[0] = View(4096, 2 if tensor.is_cuda else 1, 0, len(tensor.sizes), code, bits, 1, tensor.sizes_for_view, None, 0)
    return 0


filler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(View))(fill)
name = b"dlpack_exchange_api"


def capsule_of(library):
    new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
    library.stand_in_table.restype = ctypes.c_void_p
    return new_capsule(library.stand_in_table(filler), name, None)
