# SPDX-License-Identifier: Apache-2.0
import torch


def backward(tensors):
    torch.log.append(("backward", torch.autocast["on"]))
