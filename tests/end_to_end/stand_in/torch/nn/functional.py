# SPDX-License-Identifier: Apache-2.0
import time

import torch._tensor

fused, grad_enabled = True, True  # what a test sets


class Node:
    """Of the graph that the gradients are computed by."""

    def __init__(self, name, next_functions=()):
        self.called, self.hooks, self.next_functions = name, [], next_functions

    def name(self):
        return self.called

    def register_prehook(self, hook):
        self.hooks.append({"own": hook})

    def _register_hook_dict(self, tensor):
        self.hooks.append(tensor._backward_hooks)

    def run(self):
        for node, _ in self.next_functions:
            node.run()
        return [hook(None) for hooks in self.hooks for hook in hooks.values()]


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Docs of attention."""
    time.sleep(0.001)
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError("sizes of the heads differ")
    result = type(query)(*query.shape[:-1], value.shape[-1], dtype=query.dtype, is_cuda=query.is_cuda)
    if grad_enabled:
        result.grad_fn = Node("ScaledDotProductFlashAttentionBackward0" if fused else "UnsafeViewBackward0")
        if query.shape[-1] % 8:
            result.grad_fn = Node("SliceBackward0", ((result.grad_fn, 0),))
    return result


scaled_dot_product_attention.__module__ = "torch._C._nn"
