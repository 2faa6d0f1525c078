# SPDX-License-Identifier: Apache-2.0
import torch

unpatched_nn_module_call = torch.nn.Module.__call__
