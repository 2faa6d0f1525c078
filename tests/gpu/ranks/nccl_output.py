#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An NCCL operation on one GPU, in a program that asks for NCCL's output itself: before or after it imports PyTorch."""

import os
import sys
import tempfile

when, level = sys.argv[1:]
if when == "before":
    os.environ["NCCL_DEBUG"] = level
import torch  # pylint: disable=wrong-import-position
import torch.distributed as dist  # pylint: disable=wrong-import-position

if when == "after":
    os.environ["NCCL_DEBUG"] = level
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("nccl", init_method=f"file://{folder}/store", rank=0, world_size=1)
    one = torch.ones(1000, device="cuda")
    dist.all_reduce(one)
    print(f"sum {one.sum().item():.0f}", flush=True)
    dist.destroy_process_group()
