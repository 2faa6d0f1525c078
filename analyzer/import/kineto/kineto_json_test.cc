// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/kineto/kineto_json.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>

#include "analyzer/import/kineto/kineto_collectives.h"
#include "analyzer/import/load/load_run.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// testing::Test has a Run of its own.
using Loaded = Run;

// A step of a job of two ranks as newer profilers write it: times relative to a base, with
// decimals.
constexpr char kNewTrace[] = R"JSON({
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150000000000,
    "computeMajor": 9, "computeMinor": 0, "numSms": 132}, {"id": 1, "name": "NVIDIA H200"}],
  "cuda_runtime_version": 12060, "cuda_driver_version": 13000,
  "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2,
    "pg_config": [{"pg_name": "0", "ranks": [0, 1]}], "nccl_version": "2.20.5"},
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 70, "tid": 71, "ts": 1.000, "dur": 99.5,
   "args": {"External id": 5}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 70, "tid": 71,
   "ts": 100.001, "dur": 900, "args": {}},
  {"ph": "X", "cat": "user_annotation", "name": "Optimizer.step#SGD.step", "pid": 70, "tid": 71,
   "ts": 800, "dur": 50, "args": {}},
  {"ph": "X", "cat": "user_annotation",
   "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 70, "tid": 71,
   "ts": 110, "dur": 20.25, "args": {}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 70, "tid": 71,
   "ts": 200.125, "dur": 5.5, "args": {"External id": 7, "cbid": 211, "correlation": 41}},
  {"ph": "X", "cat": "cuda_driver", "name": "cuLaunchKernelEx", "pid": 70, "tid": 71,
   "ts": 300, "dur": 4, "args": {"correlation": 42}},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 70, "tid": 71,
   "ts": 400, "dur": 4, "args": {"correlation": "43"}},
  {"ph": "X", "cat": "kernel", "name": "_Z6vecaddPf", "pid": 0, "tid": 7, "ts": 210.007,
   "dur": 30.001, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 41,
   "registers per thread": 32, "shared memory": 4096, "grid": [24, 2, 1], "block": [128, 1, 1],
   "graph id": 3, "graph node id": 12}},
  {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
   "pid": 0, "tid": 20, "ts": 310, "dur": 80, "args": {"device": 0, "context": 1, "stream": 20,
   "correlation": 42, "Collective name": "_allgather_base", "In msg nelems": 1000,
   "Out msg nelems": 2000, "Group size": 2, "dtype": "BFloat16", "Process Group Name": "0",
   "Process Group Ranks": "[0, 1]"}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7,
   "ts": 410, "dur": 10, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 43,
   "bytes": 4096}},
  {"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7,
   "ts": 430, "dur": 1, "args": {"device": 0, "context": 1, "stream": 7, "correlation": 44,
   "bytes": 512}},
  {"ph": "s", "id": 41, "pid": 70, "tid": 71, "ts": 200.125, "cat": "ac2g", "name": "ac2g"},
  {"name": "process_name", "ph": "M", "ts": 0, "pid": 70, "tid": 0, "args": {"name": "python3"}},
  {"name": "thread_name", "ph": "M", "ts": 0, "pid": 70, "tid": 71,
   "args": {"name": "thread 71 (pt_main_thread)"}},
  {"ph": "X", "cat": "Trace", "ts": 90, "dur": 1000, "pid": "Spans", "tid": "PyTorch Profiler",
   "name": "PyTorch Profiler (0)", "args": {"Op count": 0}}
  ],
  "baseTimeNanoseconds": 1711964646000000000
})JSON";

// As profilers of 2021 wrote them: other categories, text for threads, whole
// microseconds since the epoch.
constexpr char kOldTrace[] = R"JSON({"schemaVersion": 1, "traceEvents": [
  {"ph": "X", "cat": "Operator", "name": "ProfilerStep#5", "pid": 9, "tid": "9",
   "ts": 1623143093496523, "dur": 1000, "args": {"Device": 9}},
  {"ph": "X", "cat": "Operator", "name": "aten::empty", "pid": 9, "tid": "9",
   "ts": 1623143093496524, "dur": 10, "args": {"Call stack": "a{b\\\"]"}},
  {"ph": "X", "cat": "Operator", "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
   "pid": 9, "tid": "9", "ts": 1623143093496530, "dur": 70, "args": {}},
  {"ph": "X", "cat": "Runtime", "name": "cudaMemcpy", "pid": 9, "tid": "9",
   "ts": 1623143093496600, "dur": 20, "args": {"cbid": 31, "correlation": 5}},
  {"ph": "X", "cat": "Memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0,
   "tid": "stream 7", "ts": 1623143093496605, "dur": 12, "args": {"correlation": 5, "bytes": 256}},
  {"ph": "X", "cat": "Kernel", "name": "k(int)", "pid": 0, "tid": "stream 7",
   "ts": 1623143093496700, "dur": 2, "args": {"device": 0, "context": 0, "stream": 7}},
  {"ph": "X", "cat": "Memset", "name": "Memset (Device)", "pid": 0, "tid": "stream 7",
   "ts": 1623143093496710, "dur": 1, "args": {"device": 0, "context": 0, "stream": 7, "bytes": 8}}
]})JSON";

class KinetoJsonTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }
  std::string WriteCompressed(const std::string& name, const std::string& text) {
    const std::string path = folder_ / name;
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
  static Loaded Load(const std::vector<std::string>& paths) {
    auto run = LoadRun(paths, {});
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error());
    return run.ok() ? std::move(run).value() : Loaded();
  }
  // A trace of nothing but one kernel at `ts`, with a rank.
  static std::string KernelTrace(int rank, const std::string& ts, const std::string& more = "") {
    return R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
           R"(, "world_size": 2}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k",
           "ts": )" +
           ts + R"(, "dur": 1, "args": {"device": 0, "stream": 7}})" + more + "]}";
  }

  TemporaryFolder folder_;
};

TEST_F(KinetoJsonTest, TimesAreExact) {
  const Loaded run = Load({Write("t.json", kNewTrace)});
  ASSERT_EQ(run.ranks.size(), 1u);
  const Rank& rank = run.ranks[0];
  const auto at = [&](TimeNs time) { return run.base_ns + time - 1711964646000000000; };
  const GpuOps& ops = rank.devices[0].ops;
  ASSERT_EQ(ops.size(), 4u);
  EXPECT_EQ(at(ops.start[0]), 210007);
  EXPECT_EQ(at(ops.end[0]), 240008);
  EXPECT_EQ(at(rank.api.start[0]), 200125);
  EXPECT_EQ(at(rank.api.end[0]), 205625);
  EXPECT_EQ(at(rank.start), 90000);
  EXPECT_EQ(at(rank.end), 1090000);
  const Loaded old = Load({Write("o.json", kOldTrace)});
  EXPECT_EQ(old.base_ns + old.ranks[0].api.start[0], 1623143093496600000);
}

TEST_F(KinetoJsonTest, OperationsJoinTheirCalls) {
  const Loaded run = Load({Write("t.json", kNewTrace)});
  const Rank& rank = run.ranks[0];
  ASSERT_EQ(rank.devices.size(), 2u);
  EXPECT_EQ(rank.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(rank.devices[0].sm_count, 132);
  EXPECT_EQ(rank.devices[0].memory_bytes, 150000000000);
  const GpuOps& ops = rank.devices[0].ops;
  EXPECT_EQ(ops.kind,
            (std::vector{OpKind::kKernel, OpKind::kKernel, OpKind::kMemcpy, OpKind::kMemset}));
  EXPECT_EQ(std::vector<std::uint32_t>(ops.launch.begin(), ops.launch.end()),
            (std::vector<std::uint32_t>{0, 1, 2, kNone}));
  EXPECT_EQ(rank.streams[ops.stream[1]].stream_id, 20u);
  const KernelShape& shape = rank.shapes[ops.detail[0]];
  EXPECT_EQ(rank.string(shape.name), "vecadd(float*)");
  EXPECT_EQ(shape.grid[1], 2);
  EXPECT_EQ(shape.block[0], 128);
  EXPECT_EQ(shape.registers, 32);
  EXPECT_EQ(shape.dynamic_shared_bytes, 4096);
  EXPECT_EQ(rank.graph_nodes[ops.graph_node[0]].node_id, 12u);
  EXPECT_EQ(ops.kernel_class[1], KernelClass::kComm);
  const Transfer& copy = rank.transfers[ops.detail[2]];
  EXPECT_EQ(copy.bytes, 4096);
  EXPECT_EQ(copy.kind, 1);
  EXPECT_EQ(copy.src_kind, 2);
  EXPECT_EQ(copy.dst_kind, 3);
  EXPECT_TRUE(copy.async);
  EXPECT_EQ(rank.transfers[ops.detail[3]].bytes, 512);
}

TEST_F(KinetoJsonTest, CallsHaveTheirClassAndThread) {
  const Loaded run = Load({Write("t.json", kNewTrace)});
  const Rank& rank = run.ranks[0];
  ASSERT_EQ(rank.api.size(), 3u);
  const ApiName& driver = rank.api_names[rank.api.name[1]];
  EXPECT_EQ(driver.domain, ApiDomain::kDriver);
  EXPECT_EQ(driver.api_class, ApiClass::kLaunch);
  EXPECT_EQ(rank.api_names[rank.api.name[2]].api_class, ApiClass::kCopy);
  const Thread& thread = rank.threads[rank.api.thread[0]];
  EXPECT_EQ(thread.tid, 71);
  EXPECT_EQ(thread.name, "pt_main_thread");
  EXPECT_EQ(rank.process.pid, 70);
  EXPECT_EQ(rank.process.executable, "python3");
}

TEST_F(KinetoJsonTest, JobAndVersions) {
  const Loaded run = Load({Write("t.json", kNewTrace)});
  const Rank& rank = run.ranks[0];
  EXPECT_EQ(rank.rank, 1);
  EXPECT_EQ(rank.process.world_size, 2);
  EXPECT_EQ(rank.process.nccl_version, 22005);
  EXPECT_EQ(rank.process.runtime_version, 12060);
  EXPECT_EQ(rank.process.driver_version, 13000);
  EXPECT_FALSE(rank.imported_from.empty());
}

TEST_F(KinetoJsonTest, AnnotationsAreRangesAndLoadersAreWaits) {
  const Loaded run = Load({Write("t.json", kNewTrace)});
  const Rank& rank = run.ranks[0];
  ASSERT_EQ(rank.nvtx.size(), 3u);
  EXPECT_EQ(rank.nvtx_domains, std::vector<std::string>{"annotation"});
  EXPECT_EQ(rank.string(rank.nvtx.text[0]), "ProfilerStep#4");
  EXPECT_EQ(rank.nvtx.end[0] - rank.nvtx.start[0], 900000);
  ASSERT_EQ(rank.data_waits.size(), 1u);
  EXPECT_EQ(rank.data_waits.end[0] - rank.data_waits.start[0], 20250);
  EXPECT_EQ(rank.data_waits.loader[0], kNone);
  // The program marks its steps itself.
  EXPECT_EQ(rank.step_marks.size(), 0u);
}

TEST_F(KinetoJsonTest, OptimizerStepsMarkStepsWhereTheProgramDoesNot) {
  const std::string step = R"(, {"ph": "X", "cat": "user_annotation",
      "name": "Optimizer.step#Adam.step", "pid": 1, "tid": 1, "ts": 20, "dur": 5})";
  const Loaded run = Load({Write("t.json", KernelTrace(0, "10", step))});
  const StepMarks& marks = run.ranks[0].step_marks;
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(run.base_ns + marks.time[0], 25000);
  EXPECT_EQ(marks.optimizer[0], 1u);
}

TEST_F(KinetoJsonTest, CollectivesComeFromTheMetadataOfKernels) {
  const Loaded run = Load({Write("t.json", kNewTrace)});
  const Rank& rank = run.ranks[0];
  const Collectives& calls = rank.collectives;
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(rank.string(calls.function[0]), "AllGather");
  EXPECT_EQ(calls.bytes[0], 2000);
  EXPECT_EQ(calls.start[0], rank.api.start[1]);
  EXPECT_EQ(calls.thread[0], rank.api.thread[1]);
  const Communicator& communicator = rank.communicators[calls.communicator[0]];
  EXPECT_EQ(communicator.size, 2);
  EXPECT_EQ(communicator.rank, 1);
  EXPECT_EQ(communicator.device, 0);
}

TEST_F(KinetoJsonTest, BytesOfACollectiveAreThoseOfItsCountArgument) {
  const auto bytes = [](std::string_view name, std::string_view dtype, std::int64_t in,
                        std::int64_t out) {
    KinetoCollective collective;
    collective.dtype = dtype;
    collective.in_elements = in;
    collective.out_elements = out;
    collective.group_size = 4;
    return CollectiveBytes(NcclFunctionOf(name), collective);
  };
  EXPECT_EQ(bytes("allreduce", "Float", 100, 100), 400);
  EXPECT_EQ(bytes("reduce_scatter_tensor_coalesced", "Half", 400, 100), 200);
  EXPECT_EQ(bytes("all_to_allv", "Long", 400, 400), 800);
  EXPECT_EQ(bytes("_allgather_base", "Float8_e4m3fn", 100, 400), 100);
  EXPECT_FALSE(bytes("allreduce", "Tensor", 100, 100));
  EXPECT_EQ(NcclFunctionOf("something"), "");
}

TEST_F(KinetoJsonTest, OldCategoriesAndTextForThreads) {
  const Loaded run = Load({WriteCompressed("t.json.gz", kOldTrace)});
  const Rank& rank = run.ranks[0];
  const GpuOps& ops = rank.devices[0].ops;
  ASSERT_EQ(ops.size(), 3u);
  EXPECT_EQ(ops.launch[0], 0u);
  EXPECT_FALSE(rank.transfers[ops.detail[0]].async);
  EXPECT_EQ(rank.transfers[ops.detail[0]].src_kind, 1);
  EXPECT_EQ(rank.streams[ops.stream[0]].stream_id, 7u);
  EXPECT_EQ(rank.nvtx.size(), 2u);
  ASSERT_EQ(rank.data_waits.size(), 1u);
  ASSERT_EQ(rank.data_waits.loader[0], 0u);
  EXPECT_EQ(rank.loaders[0].workers, 0);
  EXPECT_FALSE(rank.loaders[0].pin_memory);
  EXPECT_EQ(rank.threads[0].tid, 9);
}

TEST_F(KinetoJsonTest, SeveralFilesAreRanksOnOneBase) {
  Write("b.json", KernelTrace(0, "2000.5"));
  Write("a.json", KernelTrace(1, "1000"));
  const Loaded run = Load({folder_.path().string()});
  ASSERT_EQ(run.ranks.size(), 2u);
  EXPECT_EQ(run.base_ns, 1000000);
  EXPECT_EQ(run.ranks[0].rank, 0);
  EXPECT_EQ(run.ranks[0].devices[0].ops.start[0], 1000500);
  EXPECT_EQ(run.ranks[1].devices[0].ops.start[0], 0);
}

TEST_F(KinetoJsonTest, TracesOfDifferentTimesAreNoted) {
  const auto apart = [](const Loaded& run) {
    return std::any_of(run.notes.begin(), run.notes.end(), [](const std::string& note) {
      return note.find("overlap in time") != std::string::npos;
    });
  };
  const std::string first = Write("a.json", KernelTrace(0, "1000"));
  EXPECT_FALSE(apart(Load({first, Write("b.json", KernelTrace(1, "1000.9"))})));
  EXPECT_TRUE(apart(Load({first, Write("c.json", KernelTrace(1, "1002"))})));
}

TEST_F(KinetoJsonTest, ContentDecidesBeforeTheName) {
  EXPECT_TRUE(IsKinetoJson(Write("trace", kOldTrace)));
  EXPECT_TRUE(IsKinetoJson(WriteCompressed("trace.pt", kOldTrace)));
  EXPECT_TRUE(IsKinetoJson(Write("x.json", "garbage")));
  EXPECT_FALSE(IsKinetoJson(Write("y.json", "SQLite format 3")));
  EXPECT_FALSE(IsKinetoJson(Write("z.db", "garbage")));
}

}  // namespace
}  // namespace traceinject
