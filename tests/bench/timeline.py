#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it takes to analyze the timeline of a large job: time, and memory, of analyze ranks.

Plays pipelines side by side (1F1B) with one slow rank, writes what a monitoring system would, and measures. The files lie in a temporary
folder that is removed at the end.

    timeline.py build/release --ranks 125,250,500,1000 --steps 100
"""

import argparse
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

FORWARD_US, OPTIMIZER_US, TRANSFER_US, REDUCE_US = 4000.0, 3000.0, 200.0, 5000.0
NOISE = 0.02
SLOW_RANK, SLOWNESS = 1, 1.3


def orders_of(stages, micro_batches):
    """Of each stage: its passes in order, as (is forward, micro-batch)."""
    orders = []
    for stage in range(stages):
        ahead = min(stages - stage - 1, micro_batches)
        order = [(True, m) for m in range(ahead)]
        for m in range(ahead, micro_batches):
            order += [(True, m), (False, m - ahead)]
        orders.append(order + [(False, m) for m in range(micro_batches - ahead, micro_batches)])
    return orders


class Pipeline:
    """One replica: its ranks, and where they are."""

    def __init__(self, replica, data, orders, out):
        self.ranks = [stage * data + replica for stage in range(len(orders))]
        self.orders, self.out = orders, out
        self.now = [0.0] * len(orders)
        self.count = 0

    def write(self, stage, step, kind, start, end, rest=""):
        self.out.write(f'{{"rank":{self.ranks[stage]},"stage":{stage},"step":{step},"kind":"{kind}","start":{start:.3f},"end":{end:.3f}{rest}}}\n')
        self.count += 1

    def take(self, stage, step, m, kind, usual):
        slowness = SLOWNESS if self.ranks[stage] == SLOW_RANK else 1
        start, end = self.now[stage], self.now[stage] + usual * slowness * random.gauss(1, NOISE)
        self.write(stage, step, kind, start, end, f',"micro_batch":{m}' if m is not None else "")
        self.now[stage] = end

    def receive(self, stage, step, m, sender, sent):
        """The sender goes on; who receives waits."""
        end = max(sent, self.now[stage]) + TRANSFER_US
        rest = f',"micro_batch":{m},"bytes":33554432,"peer":'
        self.write(sender, step, "send", sent, end, rest + str(self.ranks[stage]))
        self.write(stage, step, "recv", self.now[stage], end, rest + str(self.ranks[sender]))
        self.now[stage] = end

    def play(self, step):
        done, at = {}, [0] * len(self.orders)
        while any(at[stage] < len(order) for stage, order in enumerate(self.orders)):
            for stage, order in enumerate(self.orders):
                while at[stage] < len(order) and self.go(stage, step, *order[at[stage]], done):
                    at[stage] += 1

    def go(self, stage, step, forward, m, done):
        sender = stage - 1 if forward else stage + 1
        if 0 <= sender < len(self.orders):
            if (sender, forward, m) not in done:
                return False
            self.receive(stage, step, m, sender, done[sender, forward, m])
        self.take(stage, step, m, "forward" if forward else "backward", FORWARD_US if forward else 2 * FORWARD_US)
        done[stage, forward, m] = self.now[stage]
        return True


def write_timeline(path, options, ranks):
    """Returns how many operations there are."""
    random.seed(1)
    data = ranks // options.stages
    with open(path, "w", buffering=1 << 20) as out:
        out.write('{"job_timeline":1,"time_unit":"us"}\n')
        pipelines = [Pipeline(replica, data, orders_of(options.stages, options.micro_batches), out) for replica in range(data)]
        for step in range(options.steps):
            for pipeline in pipelines:
                pipeline.play(step)
            for stage in range(options.stages):
                end = max(pipeline.now[stage] for pipeline in pipelines) + REDUCE_US
                for pipeline in pipelines:
                    pipeline.write(stage, step, "all-reduce", pipeline.now[stage], end, f',"group":"data {stage}","bytes":536870912')
                    pipeline.now[stage] = end
                    pipeline.take(stage, step, None, "optimizer", OPTIMIZER_US)
    return sum(pipeline.count for pipeline in pipelines)


def measure(command):
    """Its output, seconds, and the most bytes that it held."""
    began = time.monotonic()
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        if status != 0:
            sys.exit(f"timeline.py: {' '.join(map(str, command))} ended with {status}")
        output.seek(0)
        return output.read(), time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--ranks", default="1000", help="of each job, a multiple of --stages")
    parser.add_argument("--stages", type=int, default=5)
    parser.add_argument("--micro-batches", type=int, default=8)
    parser.add_argument("--steps", type=int, default=100)
    options = parser.parse_args()
    print(f"{'ranks':>6} {'operations':>11} {'file':>9} {'time':>8} {'CPU':>8} {'memory':>9} {'us/operation':>13}  first finding")
    for ranks in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "timeline.json"
            operations = write_timeline(path, options, ranks)
            output, seconds, cpu, memory = measure([options.build / "bin" / "analyze", "ranks", path, "--no-progress"])
            first = output.split("Interaction between ranks\n", 1)[1].strip().split(":")[0]
            print(f"{ranks:>6} {operations:>11,} {path.stat().st_size / 1e6:>6.0f} MB {seconds:>6.1f} s {cpu:>6.1f} s {memory / 1e6:>6.0f} MB "
                  f"{1e6 * cpu / operations:>13.2f}  {first}", flush=True)


if __name__ == "__main__":
    main()
