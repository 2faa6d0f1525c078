# SPDX-License-Identifier: Apache-2.0
import time


class BackwardCFunction:
    """The context, as PyTorch makes it."""


BackwardCFunction.__module__ = "torch.autograd.function"


class Function:
    """Calls forward as torch.autograd.Function does: found by name, with a context, by position."""

    @classmethod
    def apply(cls, *args):
        context = BackwardCFunction()
        return cls.forward(context, *args), lambda: cls.backward(context, *(None,))


class FlashAttnFunc(Function):
    @staticmethod
    def forward(ctx, q, k, v, dropout_p, softmax_scale, causal):
        time.sleep(0.001)
        return "out"

    @staticmethod
    def backward(ctx, dout, *args):
        time.sleep(0.002)
        return "gradients"


class FlashAttnQKVPackedFunc(FlashAttnFunc):
    @staticmethod
    def forward(ctx, qkv, dropout_p, softmax_scale, causal):
        return "out"

    @staticmethod
    def backward(ctx, dout, *args):
        return "gradients"


class FlashAttnKVPackedFunc(FlashAttnFunc):
    @staticmethod
    def forward(ctx, q, kv, dropout_p, softmax_scale, causal):
        return "out"

    @staticmethod
    def backward(ctx, dout, *args):
        return "gradients"


class FlashAttnVarlenFunc(FlashAttnFunc):
    @staticmethod
    def forward(ctx, q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k, dropout_p, softmax_scale, causal):
        return "out"

    @staticmethod
    def backward(ctx, dout, *args):
        return "gradients"


def flash_attn_func(q, k, v, causal=False):
    return FlashAttnFunc.apply(q, k, v, 0.0, None, causal)


def flash_attn_qkvpacked_func(qkv, causal=False):
    return FlashAttnQKVPackedFunc.apply(qkv, 0.0, None, causal)


def flash_attn_kvpacked_func(q, kv, causal=False):
    return FlashAttnKVPackedFunc.apply(q, kv, 0.0, None, causal)


def flash_attn_varlen_func(q, k, v, starts_q, starts_k, longest_q, longest_k, causal=False):
    return FlashAttnVarlenFunc.apply(q, k, v, starts_q, starts_k, longest_q, longest_k, 0.0, None, causal)
