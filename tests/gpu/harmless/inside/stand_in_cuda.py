# SPDX-License-Identifier: Apache-2.0
"""Starts a recording in a process without a GPU: with the stand-ins that tests/fake_gpu builds."""

import ctypes
import pathlib


def use(folder):
    """Initialises CUDA and does some work, so that there is a recording. `folder` has libcuda and libcudart."""
    (runtime,) = pathlib.Path(folder).glob("libcudart.so.*[0-9]")
    ctypes.CDLL(str(pathlib.Path(folder) / "libcuda.so.1")).cuInit(0)
    library, memory = ctypes.CDLL(str(runtime)), ctypes.c_void_p()
    library.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    library.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
