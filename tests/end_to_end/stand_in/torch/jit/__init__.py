# SPDX-License-Identifier: Apache-2.0
import torch.jit._builtins
