# SPDX-License-Identifier: Apache-2.0
from torch.optim.optimizer import SGD as SGD
from torch.optim.optimizer import Optimizer as Optimizer
