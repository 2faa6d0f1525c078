#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains an LSTM whose cell is called step by step over time, and prints one line of JSON with the step times.

Thousands of kernels of a few microseconds: the host cannot launch them fast enough. The same step as one CUDA graph shows what that
costs.

  bound by launches    python3 rnn.py
  one launch a step    python3 rnn.py --graph

Step times are those of the GPU, by CUDA events at the end of each step; nothing is synchronised in between.
"""

import argparse
import json
import os
import sys

import torch
import torch.nn.functional as functional
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from transformer import capture_step, flops_by_operator, timed_steps  # noqa: E402

SEED, VOCABULARY = 1234, 256


class Cell(nn.Module):
    """One step of an LSTM in time."""

    def __init__(self, width):
        super().__init__()
        self.of_input = nn.Linear(width, 4 * width)
        self.of_state = nn.Linear(width, 4 * width, bias=False)

    def forward(self, x, state, memory):
        take, keep, candidate, give = (self.of_input(x) + self.of_state(state)).chunk(4, dim=-1)
        memory = keep.sigmoid() * memory + take.sigmoid() * candidate.tanh()
        return give.sigmoid() * memory.tanh(), memory


class LanguageModel(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        self.cell = Cell(width)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens, targets):
        inputs, outputs = self.tokens(tokens), []
        state = memory = torch.zeros_like(inputs[:, 0])
        for time in range(inputs.size(1)):
            state, memory = self.cell(inputs[:, time], state, memory)
            outputs.append(state)
        logits = self.head(torch.stack(outputs, dim=1)).float()
        return functional.cross_entropy(logits.view(-1, VOCABULARY), targets.reshape(-1))


class Trainer:
    def __init__(self, options, device):
        self.device = device
        torch.manual_seed(SEED)
        self.model = LanguageModel(options.width).to(device, torch.bfloat16)
        # Capturable: it keeps its count of steps on the GPU, where a replay can raise it.
        how = {"fused": True, "capturable": True} if device.type == "cuda" else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, **how)
        self.batch = torch.randint(0, VOCABULARY, (options.batch, options.sequence + 1))
        if device.type == "cuda":
            self.batch = self.batch.pin_memory()
        self.tokens = self.batch.to(device)
        self.loss = None
        self.graph = capture_step(self.train, self.device) if options.graph else None

    def forward(self):
        return self.model(self.tokens[:, :-1], self.tokens[:, 1:])

    def train(self):
        loss = self.forward()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss = loss.detach()

    def step(self):
        self.tokens.copy_(self.batch, non_blocking=True)
        if self.graph:
            self.graph.replay()
        else:
            self.train()


def train(options, device):
    trainer = Trainer(options, device)
    figures = timed_steps(trainer.step, options.warmup, options.steps, device)
    if options.figures:
        figures["flops"] = flops_by_operator(trainer.forward)
    return {"workload": "rnn", "graph": options.graph, "width": options.width, "sequence": options.sequence, "batch": options.batch,
            "loss": float(trainer.loss), "torch": torch.__version__, **figures}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graph", action="store_true", help="capture the step, the optimizer's too, and replay it")
    parser.add_argument("--steps", type=int, default=40, help="timed steps (default: 40)")
    parser.add_argument("--warmup", type=int, default=10, help="steps before them (default: 10)")
    parser.add_argument("--batch", type=int, default=16, help="texts a step (default: 16)")
    parser.add_argument("--sequence", type=int, default=64, help="tokens of each (default: 64)")
    parser.add_argument("--width", type=int, default=512, help="of state and memory (default: 512)")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="cpu: to try the program, not to time it")
    parser.add_argument("--figures", action="store_true",
                        help="also count the FLOPs of a step by torch.utils.flop_counter, after the steps")
    options = parser.parse_args()
    if min(options.steps, options.warmup, options.batch, options.sequence, options.width) < 1:
        parser.error("--steps, --warmup, --batch, --sequence and --width must be at least 1")
    if options.graph and options.device == "cpu":
        parser.error("--graph needs --device cuda")
    return options


def main():
    options = parse_options()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("rnn.py: needs a CUDA device")
    device = torch.device("cuda", 0) if options.device == "cuda" else torch.device("cpu")
    print(json.dumps(train(options, device)), flush=True)


if __name__ == "__main__":
    main()
