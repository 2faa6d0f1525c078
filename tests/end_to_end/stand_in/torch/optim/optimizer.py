# SPDX-License-Identifier: Apache-2.0
import functools

import torch._C

_global_optimizer_post_hooks = {}


def _with_hooks(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        self, *_ = args
        out = function(*args, **kwargs)
        for hook in _global_optimizer_post_hooks.values():
            hook(self, args, kwargs)
        return out
    return wrapper


class Optimizer:
    def __init__(self):
        torch._C._log_api_usage_once("python.optimizer")
        if not getattr(type(self).step, "hooked", None):
            type(self).step = _with_hooks(type(self).step)
            type(self).step.hooked = True

    def step(self):
        raise NotImplementedError


class SGD(Optimizer):
    def step(self):
        return "stepped"
