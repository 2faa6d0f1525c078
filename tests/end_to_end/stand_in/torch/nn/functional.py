# SPDX-License-Identifier: Apache-2.0
import time

import torch._tensor

grad_enabled = True  # what a test sets


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Docs of attention."""
    time.sleep(0.001)
    if query.shape[-1] != key.shape[-1]:
        raise RuntimeError("sizes of the heads differ")
    result = type(query)(*query.shape[:-1], value.shape[-1], dtype=query.dtype, is_cuda=query.is_cuda)
    result.requires_grad = grad_enabled
    return result


scaled_dot_product_attention.__module__ = "torch._C._nn"
