# SPDX-License-Identifier: Apache-2.0
import torch.nn.functional
from torch._tensor import Parameter as Parameter
