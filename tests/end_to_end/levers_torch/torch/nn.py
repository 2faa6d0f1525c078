# SPDX-License-Identifier: Apache-2.0
import types

import torch


class Parameter(torch.Tensor):
    pass


class Module:
    training, _compiled_call_impl = True, None

    def __init__(self, *parts):
        self.parts, self.hooks = parts, []

    def parameters(self):
        for part in self.parts:
            yield from part.parameters() if isinstance(part, Module) else [part]

    def modules(self):
        yield self
        for part in self.parts:
            if isinstance(part, Module):
                yield from part.modules()

    def forward(self, *args, **kwargs):
        for part in self.parts:
            if isinstance(part, Module):
                part(*args, **kwargs)

    def _wrapped_call_impl(self, *args, **kwargs):
        for hook in self.hooks:
            args, kwargs = hook(self, args, kwargs)
        return self.forward(*args, **kwargs)

    __call__ = _wrapped_call_impl

    def compile(self, mode):
        assert Module.__call__ is Module._wrapped_call_impl
        self._compiled_call_impl = mode
        torch.log.append(("compile", type(self).__name__, mode))

    def to(self, memory_format):
        torch.log.append(("module", type(self).__name__, memory_format))

    def register_forward_pre_hook(self, hook, *, with_kwargs=False):
        assert with_kwargs
        self.hooks.append(hook)


class DistributedDataParallel(Module):
    def __init__(self, module, device_ids=None, bucket_cap_mb=None, gradient_as_bucket_view=False, static_graph=False):
        super().__init__(module)
        self.given = (device_ids, bucket_cap_mb, gradient_as_bucket_view, static_graph)


parallel = types.SimpleNamespace(DistributedDataParallel=DistributedDataParallel)
