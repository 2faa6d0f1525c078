# SPDX-License-Identifier: Apache-2.0
"""Traces as torch.profiler of several versions writes them, of made-up programs: `ForeignTrace(...)` of one process, `write_job(...)` of the ranks of a job.

The host launches, the GPU runs what was launched one after the other. Of what was launched before the recording began the file has the kernels only.
"""

import json
import random

PID, MAIN, AUTOGRAD = 4242, 4242, 4250
EPOCH_US = 1_700_000_000_000_000
# What the versions call things, by what newer ones do.
NAMES_OF_2021 = {"cpu_op": "Operator", "user_annotation": "Operator", "cuda_runtime": "Runtime", "kernel": "Kernel", "gpu_memcpy": "Memcpy"}


class ForeignTrace:
    """`version`: 2021, with whole microseconds since the epoch and other names of categories, or 2024, with decimals relative to a base.
    `clock_us`: by which the clock of the host is ahead."""

    def __init__(self, version=2024, rank=None, world=1, gpu="NVIDIA A100-SXM4-80GB", clock_us=0.0):
        self.version, self.rank, self.world, self.gpu, self.clock_us = version, rank, world, gpu, clock_us
        self.events, self.host_us, self.gpu_us, self.correlation = [], 1000.0, 0.0, 0

    def event(self, category, name, pid, tid, start, length, **arguments):
        category = NAMES_OF_2021.get(category, category) if self.version == 2021 else category
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "at": start + self.clock_us, "dur": length, "args": arguments})

    def begin(self):
        """The recording begins: what the host did so far is not in the file."""
        self.events = [event for event in self.events if event["pid"] == 0]

    def operator(self, name, start, end, tid=MAIN, **arguments):
        self.event("cpu_op", name, PID, tid, start, end - start, **arguments)

    def annotation(self, name, start, end, tid=MAIN, **arguments):
        self.event("user_annotation", name, PID, tid, start, end - start, **arguments)

    def step(self, number, start, end):
        self.annotation(f"ProfilerStep#{number}", start, end)

    def work(self, us):
        """The host is busy with what nothing tells of."""
        self.host_us += us

    def launch(self, us, name="ampere_sgemm_128x64_nn", stream=7, tid=MAIN, call_us=4.0, start_us=None, **arguments):
        """Launches a kernel; returns when it runs."""
        self.correlation += 1
        self.event("cuda_runtime", "cudaLaunchKernel", PID, tid, self.host_us, call_us, correlation=self.correlation)
        start = max(self.gpu_us + 1, self.host_us + 8) if start_us is None else start_us
        self.event("kernel", name, 0, stream, start, us, device=0, context=1, stream=stream, correlation=self.correlation, grid=[108, 1, 1],
                   block=[256, 1, 1], **arguments)
        self.gpu_us = max(self.gpu_us, start + us)
        self.host_us += call_us + 1
        return start, start + us

    def upload(self, us, size):
        self.correlation += 1
        self.event("cuda_runtime", "cudaMemcpyAsync", PID, MAIN, self.host_us, 4, correlation=self.correlation)
        start = max(self.gpu_us + 1, self.host_us + 8)
        self.event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 0, 7, start, us, device=0, context=1, stream=7, correlation=self.correlation, bytes=size)
        self.gpu_us = start + us
        self.host_us += 5

    def synchronize(self):
        length = max(1.0, self.gpu_us - self.host_us)
        self.event("cuda_runtime", "cudaDeviceSynchronize", PID, MAIN, self.host_us, length, correlation=0)
        self.host_us += length + 1

    def computed(self, name, dims, types, us, kernel="ampere_sgemm_128x64_nn", tid=MAIN, inner=None, **arguments):
        """An operator with the shapes of its inputs that launches a kernel; `inner`: of another one inside it."""
        start = self.host_us
        self.work(2)
        if inner:
            self.computed(*inner, us, kernel, tid)
        else:
            self.launch(us, kernel, tid=tid)
        self.work(1)
        self.operator(name, start, self.host_us, tid, **{"Input Dims": dims, "Input type": types, **arguments})

    def write(self, path):
        whole = self.version == 2021
        events = []
        for event in self.events:
            event = dict(event)
            at, length = event.pop("at"), event["dur"]
            event["ts"] = EPOCH_US + round(at) if whole else round(at, 3)
            event["dur"] = round(at + length) - round(at) if whole else round(length, 3)
            if whole:
                event["tid"] = f"stream {event['tid']}" if event["cat"] in ("Kernel", "Memcpy") else str(event["tid"])
            events.append(event)
        trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": self.gpu, "computeMajor": 8, "computeMinor": 0, "numSms": 108}] if self.gpu else []}
        if self.rank is not None:
            trace["distributedInfo"] = {"backend": "nccl", "rank": self.rank, "world_size": self.world}
        trace["traceEvents"] = events
        if not whole:
            trace["baseTimeNanoseconds"] = EPOCH_US * 1000
        path.write_text(json.dumps(trace))


def write_job(folder, ranks=2, steps=12, version=2021, late_us=None, clock_us=None, metadata=False, sizes=True, other_on=None, groups=None, skip=()):
    """Ranks that compute and reduce gradients in each step, as torch.profiler before it put metadata on kernels traces them (`metadata`: as it does since).
    `late_us`: by rank, of host work in each step. `clock_us`: by rank. `other_on`: a rank that reduces other sizes. `groups`: lists of ranks that go their own
    ways, the second one slower. Returns, by operation, the rank that came last."""
    chance = random.Random(ranks)
    late_us, clock_us, last = late_us or {}, clock_us or {}, []
    groups = groups or [list(range(ranks))]
    traces = [ForeignTrace(version, rank, ranks, clock_us=clock_us.get(rank, 0.0)) for rank in range(ranks)]
    for step in range(steps):
        begin = [trace.host_us for trace in traces]
        for rank, trace in enumerate(traces):
            trace.work(late_us.get(rank, 0) + chance.uniform(0, 50))
            for _ in range(12):
                trace.launch(150)
        for bucket in range(3):
            numbers = 1_000_000 + 1000 * bucket
            for number, group in enumerate(groups):
                for rank in group:
                    traces[rank].work(20 + (chance.uniform(0, 4000) if number else 0))
                starts = [max(traces[rank].gpu_us + 1, traces[rank].host_us + 12) for rank in group]
                end = max(starts) + 400
                if len(groups) == 1:
                    last.append(group[starts.index(max(starts))])
                for rank, start in zip(group, starts):
                    trace, size = traces[rank], numbers * (2 if rank == other_on and bucket == 1 else 1)
                    called = trace.host_us
                    told = {"Collective name": "allreduce", "In msg nelems": size, "Out msg nelems": size, "dtype": "Float", "Group size": ranks,
                            "Process Group Name": "0", "Process Group Ranks": str(list(range(ranks)))} if metadata else {}
                    trace.work(3)
                    trace.launch(end - start, "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", stream=20, start_us=start, **told)
                    inputs = {"Input Dims": [[size // 1000, 1000]], "Input type": ["float"]} if sizes else {}
                    trace.annotation("nccl:all_reduce", called, trace.host_us, **inputs)
        for rank, trace in enumerate(traces):
            trace.launch(300, "multi_tensor_apply_kernel<SGD>")
            trace.synchronize()
            trace.step(step + 5, begin[rank], trace.host_us)
    for rank, trace in enumerate(traces):
        if rank not in skip:
            trace.write(folder / f"rank{rank}.json")
    return last
