# SPDX-License-Identifier: Apache-2.0
"""A stand-in for PyTorch: the few names that the library's Python side looks for, with the behaviour that it relies on.

Pure Python, so that the side can be tested where PyTorch is not installed. Names and order of calls are PyTorch's.
"""

import torch.compiler
import torch.optim
import torch.serialization
import torch.utils.data
from torch.serialization import save as save
