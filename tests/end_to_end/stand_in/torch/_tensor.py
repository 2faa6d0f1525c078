# SPDX-License-Identifier: Apache-2.0
import os

import torch._C
import torch._dlpack

float32, float16, bfloat16 = "float32", "float16", "bfloat16"


class Tensor:
    is_nested = wrapped = requires_grad = False

    def __init__(self, *shape, dtype=bfloat16, is_cuda=True):
        self.sizes, self.dtype, self.is_cuda = shape, dtype, is_cuda

    @property
    def shape(self):
        if torch._C.function_modes and not torch._C.hidden:
            torch._C.function_modes[-1].append("shape")
        return self.sizes

    def data_ptr(self):
        torch._C.addresses_asked += 1
        if self.wrapped:
            raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")
        return 4096

    def dim(self):
        return len(self.shape)


if "STAND_IN_DLPACK" in os.environ:
    Tensor.__dlpack_c_exchange_api__ = torch._dlpack.capsule_of(torch._C.library)


class Parameter(Tensor):
    pass


def empty(*shape, device):
    return Tensor(*shape, is_cuda=device != "cpu")
