#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that launches one small kernel after the other: many small layers, and an optimizer that takes parameters one by one.

Nothing in a step waits for the GPU but its end, so that the host launches as fast as it can. Takes orders as full_batch_gnn.py does.
"""

import torch

from full_batch_gnn import serve

LAYERS, WIDTH, ROWS = 24, 128, 64


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 2 * WIDTH), torch.nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Trainer:
    def __init__(self, device):
        torch.manual_seed(0)
        self.x = torch.randn(ROWS, WIDTH, device=device)
        self.network = torch.nn.Sequential(*(Layer() for _ in range(LAYERS))).to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), foreach=False)

    def step(self):
        self.optimizer.zero_grad()
        self.network(self.x).square().mean().backward()
        self.optimizer.step()
        torch.cuda.synchronize()


if __name__ == "__main__":
    serve(Trainer("cuda"))
