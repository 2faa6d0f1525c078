# SPDX-License-Identifier: Apache-2.0
from torch.optim.optimizer import Optimizer


class Adam(Optimizer):
    def __init__(self, params, lr=1, *, foreach=None, fused=None):
        super().__init__(params, {"lr": lr, "foreach": foreach, "fused": fused})

    def step(self):
        pass


class AdamW(Adam):
    def __init__(self, params, lr=1, *, foreach=None, fused=None):
        super().__init__(params, lr, foreach=foreach, fused=fused)


class Fussy(Optimizer):
    def __init__(self, params, lr=1, *, fused=None):
        super().__init__(params, {"lr": lr, "fused": fused})
        self.left = fused
        if fused:
            raise RuntimeError("not on this GPU")


class Adagrad(Optimizer):
    def __init__(self, params, *, foreach=None, fused=None):
        super().__init__(params, {"foreach": foreach, "fused": fused})
