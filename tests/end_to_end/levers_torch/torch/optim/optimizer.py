# SPDX-License-Identifier: Apache-2.0
import functools

import torch


def _called_by_position(step):
    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        return step(*args, **kwargs)

    wrapper.hooked = True
    return wrapper


class Optimizer:
    def __init__(self, params, defaults):
        torch._C._log_api_usage_once("python.optimizer")
        if not getattr(type(self).step, "hooked", False):
            type(self).step = _called_by_position(type(self).step)
        self.param_groups = []
        for group in params:
            group = group if isinstance(group, dict) else {"params": [group]}
            for name, value in defaults.items():
                group.setdefault(name, value)
            self.param_groups.append(group)

    def step(self):
        pass

    def zero_grad(self, set_to_none=True):
        self.set_to_none = set_to_none
