# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import types

library = ctypes.CDLL(os.environ["STAND_IN_TORCH_CPU"]) if "STAND_IN_TORCH_CPU" in os.environ else None
addresses_asked = 0
tracing = None  # what a test sets to play torch.jit.trace
function_modes = []  # torch function modes: each sees what tensors are asked for, unless it is kept from it
hidden = 0


class DisableTorchFunction:
    def __enter__(self):
        global hidden
        hidden += 1

    def __exit__(self, *_):
        global hidden
        hidden -= 1


DisableTorchFunctionSubclass = DisableTorchFunction
wrapped_asked = 0


def is_wrapped(tensor):
    global wrapped_asked
    wrapped_asked += 1
    return tensor.wrapped


_functorch = types.SimpleNamespace(is_functorch_wrapped_tensor=is_wrapped)
devices_asked = []


def tell_library(functorch=False):
    if library is not None:
        library.stand_in_set(tracing is not None, functorch, len(function_modes))


def _len_torch_function_stack():
    return len(function_modes)


def _get_tracing_state():
    return tracing


def _cuda_getDeviceCount():
    return 2


def _cuda_memoryStats(device):
    devices_asked.append(device)
    if device == 1:  # never used
        return {name: {"all": {"current": 0, "peak": 0}} for name in ("allocated_bytes", "reserved_bytes", "active_bytes")}
    return {"allocated_bytes": {"all": {"current": 1 << 30, "peak": 3 << 30}},
            "reserved_bytes": {"all": {"current": 4 << 30, "peak": 5 << 30}},
            "active_bytes": {"all": {"current": 2 << 30, "peak": 3 << 30}}, "num_alloc_retries": 2, "num_ooms": 1}
