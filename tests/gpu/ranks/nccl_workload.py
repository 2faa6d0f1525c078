#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parallel training and every kind of NCCL operation on all GPUs of a torchrun job; writes down what it issued.

Each operation that is written down has a size of its own, so that it is told apart from those of PyTorch itself.
--parallel ddp: DistributedDataParallel; fsdp: fully_shard of each layer, whose gathers and scatters are counted where it calls them.
"""

import argparse
import collections
import json
import os

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

DATATYPE = torch.bfloat16
gather, scatter = dist.all_gather_into_tensor, dist.reduce_scatter_tensor  # before fully_sharded counts them


class Issued:
    """How often what was issued: (function, bytes as NCCL's own argument says, datatype)."""

    def __init__(self):
        self.counts = collections.Counter()

    def add(self, function, tensor):
        self.counts[function, tensor.nbytes, f"nccl{str(tensor.dtype).removeprefix('torch.').capitalize()}"] += 1

    def write(self, path):
        with open(path, "w") as file:
            json.dump([{"function": function, "bytes": size, "datatype": datatype, "count": count}
                       for (function, size, datatype), count in self.counts.items()], file)


def every_operation(issued, rank, world):
    def tensor(elements):
        return torch.ones(elements, dtype=DATATYPE, device="cuda")

    for elements in (1_001, 300_007, 9_000_011):
        one = tensor(elements)
        dist.all_reduce(one)
        issued.add("AllReduce", one)
    part = tensor(70_001)
    gather(tensor(70_001 * world), part)
    issued.add("AllGather", part)
    part = tensor(80_021)
    scatter(part, tensor(80_021 * world))
    issued.add("ReduceScatter", part)
    one = tensor(90_007)
    dist.broadcast(one, src=1)
    issued.add("Broadcast", one)
    one = tensor(100_003)
    dist.reduce(one, dst=0)
    issued.add("Reduce", one)
    # Several operations in one group.
    group = [tensor(elements) for elements in (20_011, 20_021, 20_023)]
    with dist._coalescing_manager(device=torch.device("cuda"), async_ops=False):  # pylint: disable=protected-access
        for one in group:
            dist.all_reduce(one)
            issued.add("AllReduce", one)
    to_send, to_receive = tensor(110_017), tensor(110_017)
    neighbours = [dist.P2POp(dist.isend, to_send, (rank + 1) % world), dist.P2POp(dist.irecv, to_receive, (rank - 1) % world)]
    for request in dist.batch_isend_irecv(neighbours):
        request.wait()
    issued.add("Send", to_send)
    issued.add("Recv", to_receive)


def data_parallel(issued, layers, device):
    def reduce_bucket(_, bucket):
        issued.add("AllReduce", bucket.buffer())
        return default_hooks.allreduce_hook(None, bucket)

    model = DistributedDataParallel(torch.nn.Sequential(*layers).to(device, DATATYPE), device_ids=[device.index])
    model.register_comm_hook(None, reduce_bucket)
    return model


def fully_sharded(issued, layers, device):
    from torch.distributed.fsdp import fully_shard

    def count(function, name, argument):
        """The function's own count argument is that of the part: what is sent of a gather, what is received of a scatter."""
        original = getattr(dist, name)

        def counted(*args, **kwargs):
            issued.add(function, args[argument[0]] if len(args) > argument[0] else kwargs[argument[1]])
            return original(*args, **kwargs)

        setattr(dist, name, counted)

    count("AllGather", "all_gather_into_tensor", (1, "input_tensor"))
    count("ReduceScatter", "reduce_scatter_tensor", (0, "output"))
    model = torch.nn.Sequential(*layers).to(device, DATATYPE)
    for layer in layers:
        fully_shard(layer)
    return fully_shard(model)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--parallel", choices=("ddp", "fsdp"), default="ddp")
    parser.add_argument("--issued", required=True, help="path; .rankN.json is added")
    options = parser.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    rank, world = dist.get_rank(), dist.get_world_size()
    issued = Issued()
    layers = [torch.nn.Linear(1_021, 1_021) for _ in range(8)]
    model = (data_parallel if options.parallel == "ddp" else fully_sharded)(issued, layers, device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(64, 1_021, dtype=DATATYPE, device=device)
    for _ in range(options.steps):
        model(batch).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        every_operation(issued, rank, world)
    torch.cuda.synchronize()
    issued.write(f"{options.issued}.rank{rank}.json")
    print(f"rank {rank} of {world}: {sum(issued.counts.values())} operations issued in {options.steps} steps")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
