# SPDX-License-Identifier: Apache-2.0
"""What the recordings in samples/recordings have not, for make_bases.py: operators with sizes and NCCL's messages in a trace of
PyTorch's profiler, waits and graphs in an export of Nsight Systems, hardware counters and machine code in a run.db."""

import json

BASE_NS = 1_700_000_000_000_000_000
STEPS = 4
STEP_US = 4000


class Trace:
    """A trace with one host thread, another one of autograd, and a GPU."""

    PID, THREAD, BACKWARD = 42, 42, 43

    def __init__(self):
        self.now, self.correlation, self.events = 1000.0, 0, []
        self.thread = self.THREAD
        for pid, name in ((self.PID, "python"), (0, "GPU 0")):
            self.events.append({"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "ts": 0, "args": {"name": name}})
        self.events.append({"ph": "M", "name": "thread_name", "pid": self.PID, "tid": 43, "ts": 0, "args": {"name": "autograd"}})

    def add(self, category, name, start, length, args, tid=None, pid=PID):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": self.thread if tid is None else tid,
                            "ts": round(start, 3), "dur": round(length, 3), "args": args})

    def launch(self, kernel, category="kernel", old=False, **args):
        """A call, and what it launches; of an old version of the profiler it is called otherwise."""
        self.correlation += 1
        call = "cudaMemcpyAsync" if category == "gpu_memcpy" else "cudaLaunchKernel"
        self.add("Runtime" if old else "cuda_runtime", call, self.now, 4, {"correlation": self.correlation})
        self.now += 5
        told = {"device": 0, "context": 1, "stream": 7, "correlation": self.correlation, **args}
        if category == "kernel":
            told |= {"grid": [8, 4, 1], "block": [128, 1, 1], "registers per thread": 64, "shared memory": 4096}
        self.add({"kernel": "Kernel", "gpu_memcpy": "Memcpy"}.get(category, category) if old else category, kernel, self.now + 6, 3,
                 told, tid="stream 7" if old else 7, pid=0)

    def operator(self, name, kernel=None, inside=(), category="cpu_op", args=None, **told):
        """One that launches a kernel and has others in it. `told`: dims, types, concrete."""
        keys = {"dims": "Input Dims", "types": "Input type", "concrete": "Concrete Inputs", "sequence": "Sequence number",
                "forward": "Fwd thread id", "stack": "Call stack"}
        start = self.now
        self.now += 1
        for one in inside:
            one()
        if kernel is not None:
            self.launch(kernel, **(args or {}))
        self.now += 1
        self.add(category, name, start, self.now - start, {keys[key]: value for key, value in told.items()})
        self.now += 1


GEMM = "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
CONV = "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4"
ATTENTION = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>, false, true>(Flash_fwd_params)"
FLOATS = ["float", "float", "float"]


def add_products(trace):
    stack = "train.py(41): forward;train.py(12): <module>"
    for name, dims in (("aten::mm", [[64, 32], [32, 16]]), ("aten::addmm", [[16], [64, 32], [32, 16]]),
                       ("aten::bmm", [[4, 64, 32], [4, 32, 16]]), ("aten::mv", [[64, 32], [32]]),
                       ("aten::matmul", [[4, 64, 32], [32, 16]]), ("aten::linear", [[4, 64, 32], [16, 32], [16]]),
                       ("aten::_scaled_mm", [[64, 32], [32, 16]]), ("aten::mm", [[64, 32], [33, 16]]), ("aten::mm", [[], [32]])):
        trace.operator(name, GEMM, dims=dims, types=FLOATS[:len(dims)], concrete=[""] * len(dims), stack=stack)
    trace.operator("aten::cat", GEMM, dims=[[[4, 2], [4, 2]], []], types=[["c10::BFloat16", "c10::BFloat16"], "Scalar"],
                   concrete=["", "1"])
    for head in ("_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention_backward",
                 "_flash_attention_forward", "_flash_attention_backward"):
        dims = [[2, 8, 128, 64]] * 4
        trace.operator("aten::" + head, ATTENTION, dims=dims, types=["c10::BFloat16"] * 4,
                       concrete=["", "", "", "", "True", "", "False"],
                       inside=[lambda: trace.operator("aten::_flash_attention_forward", dims=dims, types=["c10::BFloat16"] * 4)])


def add_convolutions(trace, number):
    image, weights, output = [8, 16, 32, 32], [32, 16, 3, 3], [8, 32, 32, 32]
    numbers = ["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"]

    def nest(names, padding="[1, 1]"):
        told = [*numbers[:4], padding, *numbers[5:]]
        inside = [lambda: nest(names[1:], padding)] if len(names) > 1 else []
        trace.operator(names[0], CONV if len(names) == 1 else None, inside, dims=[image, weights, [32]], types=FLOATS,
                       concrete=told, sequence=number)

    nest(["aten::conv2d", "aten::convolution", "aten::_convolution"])
    nest(["aten::conv2d"], padding="same")
    trace.operator("aten::cudnn_convolution", CONV, dims=[image, weights], types=FLOATS[:2],
                   concrete=["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"])
    trace.operator("aten::convolution", CONV, dims=[output, weights, []], types=FLOATS, concrete=[*numbers[:6], "True", "", ""])
    trace.operator("aten::cudnn_convolution_transpose", CONV, dims=[output, weights], types=FLOATS[:2])
    trace.thread = trace.BACKWARD
    dims = [output, image, weights]
    trace.operator("ConvolutionBackward0", None, [lambda: trace.operator(
        "aten::convolution_backward", CONV, dims=dims, types=FLOATS,
        concrete=["", "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "", "", "[True, True, False]"])],
        dims=[output], types=FLOATS[:1], sequence=number, forward=1)
    trace.operator("aten::cudnn_convolution_backward", None, [
        lambda: trace.operator("aten::cudnn_convolution_backward_input", CONV, dims=[[], output, weights], types=FLOATS),
        lambda: trace.operator("aten::cudnn_convolution_backward_weight", CONV, dims=[[], output, image], types=FLOATS)],
        dims=[image, output, weights], types=FLOATS)
    trace.thread = trace.THREAD


def add_collectives(trace):
    group = {"Group size": 2, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}

    def told(name, **more):
        return {"Collective name": name, "In msg nelems": 1024, "Out msg nelems": 1024, **group, **more}

    for name, kernel in (("allreduce", "AllReduce_Sum_f32"), ("_allgather_base", "AllGather"), ("reduce_scatter", "ReduceScatter"),
                         ("alltoallv", "SendRecv"), ("broadcast", "Broadcast"), ("nothing", "AllReduce")):
        trace.launch(f"ncclDevKernel_{kernel}_RING_LL(ncclDevKernelArgsStorage<4096ul>)", **told(name))
    # The list of ranks was a list once, and may be abridged.
    for name, more in (("send", {"Dst Rank": 1}), ("recv", {"Src Rank": 1}), ("send", {"Rank": 1}),
                       ("recv", {"Process Group Ranks": [0, 1], "dtype": "Float8_e4m3fn"}),
                       ("send", {"Process Group Ranks": "[0, ..., 7]", "Dst Rank": 5})):
        start = trace.now
        trace.launch("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)")
        trace.add("cpu_op", "record_param_comms", start - 1, trace.now - start + 2, told(name, **more))
        trace.now += 3
    for title in ("nccl:all_reduce", "nccl:send 0->1", "nccl:recv 0<-1", "nccl:_reduce_scatter_base", "nccl:nothing"):
        trace.operator(title, "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", category="user_annotation",
                       dims=[[[16, 4], [8]]], types=[["float", "float"]])


def write_trace(path):
    trace = Trace()
    for step in range(STEPS):
        start = 1000.0 + step * STEP_US
        trace.now = start + 5
        add_products(trace)
        add_convolutions(trace, 10 + step)
        add_collectives(trace)
        for kinds in ("HtoD (Pinned -> Device)", "PtoP (Device -> Device)", "DtoA (Managed -> Array)", "XtoY (Some -> Other)"):
            trace.launch("Memcpy " + kinds, "gpu_memcpy", old=step == 0, bytes=4096, fromDevice=0, inDevice=0, toDevice=1)
        trace.launch("Memset (Device)", "gpu_memset", bytes=64)
        trace.launch("elementwise_kernel", old=True, **{"graph id": 5, "graph node id": 9})
        trace.add("user_annotation", f"ProfilerStep#{step}", start, STEP_US, {})
        trace.add("Operator", f"ProfilerStep#{step}", start, STEP_US, {})
    facts = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
                                                       "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
             "cuda_driver_version": 12040, "cuda_runtime_version": 12040, "cupti_version": 22,
             "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2, "nccl_version": "2.20.5"},
             "baseTimeNanoseconds": BASE_NS, "traceEvents": trace.events}
    path.write_text(json.dumps(facts))


# Columns as Nsight Systems has them. The names of kernels as old versions have them.
EXPORT = """
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS SELECT start, end, globalTid / 16777216 * 16777216 AS globalPid, correlationId,
  0 AS deviceId, 1 AS contextId, 7 AS streamId, correlationId % 5 AS syncType, correlationId % 3 AS eventId
  FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid % 4 = 0;
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT AS SELECT globalTid / 16777216 * 16777216 AS globalPid, correlationId, 0 AS deviceId,
  1 AS contextId, 7 AS streamId, correlationId % 3 AS eventId FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE rowid % 4 = 1;
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE AS SELECT start, end, globalPid, deviceId, contextId, streamId, correlationId,
  rowid AS graphId FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE rowid % 9 = 0;
CREATE TABLE TARGET_INFO_NVTX_CUDA_STREAM AS SELECT DISTINCT globalPid / 16777216 % 16777216 AS processId, contextId, streamId,
  'copies' AS name FROM CUPTI_ACTIVITY_KIND_KERNEL;
UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = 10, srcDeviceId = 0, dstDeviceId = 1 WHERE rowid % 2 = 0;
DELETE FROM NVTX_EVENTS WHERE rowid > 60;
UPDATE NVTX_EVENTS SET eventType = 34, end = NULL WHERE rowid % 5 = 0;
UPDATE NVTX_EVENTS SET eventType = 60 WHERE rowid % 5 = 1;
UPDATE NVTX_EVENTS SET eventType = 75, domainId = 1, text = 'train' WHERE rowid % 5 = 2;
UPDATE NVTX_EVENTS SET textId = 1, text = NULL, end = NULL WHERE rowid % 10 = 3;
"""


def add_to_export(database):
    database.executescript(EXPORT)


def numbers(*values):
    """As schemas/counter_codec.h packs them."""
    packed = bytearray()
    for value in values:
        rest = value * 2 if value >= 0 else -2 * value - 1
        while rest >= 0x80:
            packed.append(rest % 0x80 | 0x80)
            rest //= 0x80
        packed.append(rest)
    return bytes(packed)


def add_to_recording(database):
    """To what was imported of write_trace()'s."""
    process, start = database.execute("SELECT proc, start FROM process").fetchone()
    thread, = database.execute("SELECT id FROM thread").fetchone()
    for number, source in enumerate(("pm_sampling", "gpm", "another")):
        database.execute("INSERT INTO counter_set VALUES (?, ?, ?, 'set', 'GH100', 100000)", (number, process, source))
        for position, name in enumerate(("sm_active", "dram_read", "of_tomorrow")):
            database.execute("INSERT INTO counter VALUES (?, ?, ?, 'permille', ?)", (number, position, name, name))
        for row in range(3):
            data = numbers(0, 0, 500, 100, 7) + numbers(5, -5, 10, -600, 1) + numbers(0, 0, -1, 1, 0)
            clock = row * 1_000_000 if number == 0 else None
            database.execute("INSERT INTO counter_sample VALUES (?, 300000, ?, 0, ?, 3, ?, ?, ?, ?)",
                             (start + row * 1_000_000, process, number, clock, 1000 if row == 0 else None, 2000, data))
    for row in range(8):
        database.execute("INSERT INTO memory_operation (time, proc, device, kind, memory_kind, bytes, address, pool, correlation) "
                         "VALUES (?, ?, 0, ?, 3, 4096, ?, 0, ?)", (start + row * 1000, process, 1 + row % 2, 4096 + row // 2, row + 1))
    frames = (("_ZN2at6native12_GLOBAL__N_13runERKNS_6TensorE", "/usr/lib/libtorch_cuda.so"), ("main", "/home/user/train"),
              ("_ZNSt6vectorIiSaIiEE9push_backERKi", "/home/user/train"), ("train+0x12a0", "/home/user/train"),
              ("operator new", "/usr/lib/libc.so.6"), ("_ZZ4loopvENKUlvE_clEv", "/home/user/train"),
              ("run<std::pair<int, int> >(int)::{lambda()#1}::operator()", "/home/user/train"))
    place = 1000
    for name, path in frames:
        ids = []
        for text in (name, path):
            database.execute("INSERT INTO string (text) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM string WHERE text = ?)", (text, text))
            ids.append(database.execute("SELECT id FROM string WHERE text = ?", (text,)).fetchone()[0])
        place += 1
        database.execute("INSERT INTO code_place VALUES (?, ?, ?, 0, NULL)", (place, *ids))
        database.execute("INSERT INTO stack (id, parent, place, module) VALUES (?, ?, ?, ?)",
                         (place, place - 1 if place > 1001 else None, place, ids[0] if place % 2 else None))
        for row, correlation in enumerate((None, 1, 2, 3)):
            database.execute("INSERT INTO stack_sample VALUES (?, ?, ?, ?, ?, ?, ?)",
                             (start + 1000 * place + row, thread, place, 1 + row, correlation, 2, 500))
    database.commit()
