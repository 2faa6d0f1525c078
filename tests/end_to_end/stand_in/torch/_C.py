# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import sys
import time
import types

from builtins_of_c import builtin, method

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


def _log_api_usage_once(name):
    pass


_log_api_usage_once = builtin(_log_api_usage_once)
_nn = sys.modules["torch._C._nn"] = types.ModuleType("torch._C._nn")


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Docs of attention."""
    override = getattr(type(query), "__torch_function__", None)
    if override is not None and not hidden:
        arguments = {"attn_mask": attn_mask, "dropout_p": dropout_p, "is_causal": is_causal}
        return override(_nn.scaled_dot_product_attention, (type(query),), (query, key, value), arguments)
    time.sleep(0.001)
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError("sizes of the heads differ")
    result = type(query)(*query.shape[:-1], value.shape[-1], dtype=query.dtype, is_cuda=query.is_cuda)
    result.requires_grad = grad_enabled
    return result


grad_enabled = True  # what a test sets
_nn.scaled_dot_product_attention = builtin(scaled_dot_product_attention, _nn)


class PyTorchFileWriter:
    @method
    def __init__(self, path):
        self.file = open(path, "wb")

    @method
    def write_end_of_file(self):
        self.file.close()


codes_skipped = []  # by torch.compile
_dynamo = types.SimpleNamespace(eval_frame=types.SimpleNamespace(skip_code=codes_skipped.append))


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
