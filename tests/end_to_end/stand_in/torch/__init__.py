# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch: the few names that the library's Python side looks for, with the behaviour that it relies on.

Pure Python, so that the side can be tested where PyTorch is not installed. Names and order of calls are PyTorch's.
"""

import torch._C
import torch.compiler
import torch.cuda
import torch.jit
import torch.nn
import torch.optim
import torch.serialization
import torch.utils.data
from torch._tensor import Tensor as Tensor
from torch._tensor import bfloat16 as bfloat16
from torch._tensor import empty as empty
from torch._tensor import float16 as float16
from torch._tensor import float32 as float32
from torch.serialization import save as save
