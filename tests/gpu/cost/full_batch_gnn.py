#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of short steps: full-batch training of a graph network of two layers.

A step launches some 55 operations and ends with `.item()`, as many small programs do; the host, not the GPU, sets its time. It waits
for orders on stdin, so that several such processes can take turns (recording_cost.py): for each line, a number of steps, it makes
these steps and prints one line of JSON with their mean in ms by the host's clock, without the first tenth, and what single calls take
(medians, us): a launch, `.item()` of one number, which copies it to the host and waits, and a wait for an idle device.
"""

import json
import statistics
import sys
import time

import torch

NODES, EDGES, WIDTH, CLASSES = 20_000, 200_000, 128, 10


class Convolution(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = torch.nn.Linear(inputs, outputs, bias=False)
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x, edges, norm):
        source, target = edges
        x = self.weight(x)
        sent = norm.view(-1, 1) * x.index_select(0, source)
        return torch.zeros_like(x).scatter_add_(0, target.view(-1, 1).expand_as(sent), sent) + self.bias


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Convolution(WIDTH, WIDTH), Convolution(WIDTH, CLASSES)

    def forward(self, x, edges, norm):
        x = torch.nn.functional.dropout(torch.relu(self.first(x, edges, norm)), training=self.training)
        return self.second(x, edges, norm)


class Trainer:
    def __init__(self, device):
        torch.manual_seed(0)
        self.x = torch.randn(NODES, WIDTH, device=device)
        self.labels = torch.randint(0, CLASSES, (NODES,), device=device)
        self.edges = torch.randint(0, NODES, (2, EDGES), device=device)
        self.norm = torch.rand(EDGES, device=device)
        self.network = Network().to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-2)

    def step(self):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.network(self.x, self.edges, self.norm), self.labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def timed_us(call, times, each=1):
    """The median over `times` measurements of `each` calls, with the GPU idle before."""
    spent = []
    for _ in range(times):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        for _ in range(each):
            call()
        spent.append((time.perf_counter_ns() - began) / each / 1e3)
    torch.cuda.synchronize()
    return statistics.median(spent)


def turn(trainer, steps):
    settle = steps // 10
    for _ in range(settle):
        trainer.step()
    began = time.perf_counter_ns()
    for _ in range(steps - settle):
        trainer.step()
    return (time.perf_counter_ns() - began) / (steps - settle) / 1e6


def serve(trainer):
    one = torch.zeros(1, device="cuda")
    turn(trainer, 60)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps({
            "step_ms": turn(trainer, int(line)), "launch_us": timed_us(lambda: one.add_(1), 5, 50), "item_us": timed_us(one.item, 30),
            "wait_us": timed_us(torch.cuda.synchronize, 30),
        }), flush=True)


if __name__ == "__main__":
    serve(Trainer("cuda"))
