// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/event_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "analyzer/model/testing/rank_builder.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

class EventText : public testing::Test {
 protected:
  // The first event of the first row of a kind whose label contains a text.
  EventRef First(RowKind kind, const std::string& part) const {
    for (std::uint32_t row = 0; row < rows_.rows.size(); ++row) {
      if (rows_.rows[row].kind != kind) continue;
      const auto& lanes = rows_.rows[row].lanes;
      for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
        for (std::uint32_t event = 0; event < lanes[lane].size(); ++event) {
          const EventRef ref{row, lane, event};
          if (EventLabel(run_, rows_, ref).find(part) != std::string_view::npos) return ref;
        }
      }
    }
    ADD_FAILURE() << "no event " << part;
    return {};
  }

  std::string Value(const EventRef& ref, const std::string& what) const {
    for (const auto& [key, value] : EventDetails(run_, rows_, ref, loaded_->links.Of(ref))) {
      if (key == what) return value;
    }
    return "(missing)";
  }

  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  const traceinject::Run& run_ = loaded_->run;
  const RowModel& rows_ = loaded_->rows;
};

TEST_F(EventText, KernelsHaveNameShapeAndLaunch) {
  const EventRef kernel = First(RowKind::kStream, "sgemm");
  EXPECT_EQ(EventLabel(run_, rows_, kernel), "ns::sgemm_kernel");
  EXPECT_EQ(Value(kernel, "kernel"), "void ns::sgemm_kernel<float>(float*)");
  EXPECT_EQ(Value(kernel, "class"), "matrix multiply");
  EXPECT_EQ(Value(kernel, "start"), "0.000100000 s");
  EXPECT_EQ(Value(kernel, "duration"), "50.00 us");
  EXPECT_EQ(Value(kernel, "grid"), "64 x 2 x 1");
  EXPECT_EQ(Value(kernel, "launched by"), "cudaLaunchKernel");
  EXPECT_EQ(Value(kernel, "launch took"), "5.000 us");
  EXPECT_EQ(Value(kernel, "launch to start"), "90.00 us");
}

TEST_F(EventText, RangesAroundTheLaunchAreNamedOutermostFirst) {
  const EventRef kernel = First(RowKind::kStream, "sgemm");  // launched at 910 us
  EXPECT_EQ(Value(kernel, "inside"), "step > forward");
  EXPECT_EQ(Value(First(RowKind::kCalls, "cudaLaunchKernel"), "inside"), "step > forward");
  EXPECT_EQ(Value(First(RowKind::kCollectives, "AllReduce"), "inside"), "step > forward");
  EXPECT_EQ(Value(First(RowKind::kNvtx, "forward"), "inside"), "step");
  EXPECT_EQ(Value(First(RowKind::kNvtx, "step"), "inside"), "(missing)");
  EXPECT_EQ(Value(First(RowKind::kStream, "host to device"), "inside"), "(missing)");
}

TEST(EventTextOfKernels, AGemmHasTheSizesOfItsCallAndItsRate) {
  RankBuilder builder;
  builder.AddGemm(
      100, 200,
      {.m = 4096, .n = 1024, .k = 2048, .batch = 1, .type_a = 14, .type_b = 14, .type_c = 14});
  builder.AddGemm(300, 400, {.m = 8, .n = 8, .k = 8, .batch = 1}, 1);
  const std::uint32_t launch = builder.AddApi(150, 160, "cuLaunchKernelEx");
  builder.AddKernel(1'000, 41'000, "sm90_gemm_bf16", launch);
  builder.AddKernel(50'000, 60'000, "sm90_gemm_bf16", builder.AddApi(350, 360, "cuLaunchKernelEx"));
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const RowModel model = BuildRows(run);
  const auto details = [&](std::uint32_t event) {
    std::map<std::string, std::string> found;
    for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
      if (model.rows[row].kind != RowKind::kStream) continue;
      for (const auto& [key, value] : EventDetails(run, model, {row, 0, event}, {}))
        found[key] = value;
    }
    return found;
  };
  EXPECT_EQ(details(0)["m x n x k"], "4096 x 1024 x 2048");
  EXPECT_EQ(details(0)["types"], "bf16");
  EXPECT_EQ(details(0)["rate"], "429.5 TFLOP/s");
  EXPECT_FALSE(details(1).contains("rate")) << "launched outside of the calls of its thread";
}

TEST(EventTextOfCollectives, AKernelHasTheFieldsOfItsCall) {
  RankBuilder builder;
  builder.AddCall({100, 200, "AllReduce", 4'096, builder.AddCommunicator(8, 3)});
  const std::uint32_t launch = builder.AddApi(150, 160, "cuLaunchKernelEx");
  builder.AddKernel(300, 400, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", launch);
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const RowModel model = BuildRows(run);
  std::map<std::string, std::string> details;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].kind != RowKind::kStream) continue;
    for (const auto& [what, value] : EventDetails(run, model, {row, 0, 0}, {}))
      details[what] = value;
  }
  EXPECT_EQ(details["issued by"], "AllReduce");
  EXPECT_EQ(details["bytes"], "4.096 kB");
  EXPECT_EQ(details["ranks"], "8");
  EXPECT_EQ(details["own rank"], "3");
}

// The launch is in the ncclGroupEnd after the call: none is around it.
TEST(EventTextOfCollectives, AKernelOfAGroupHasTheFieldsOfItsCalls) {
  RankBuilder builder;
  const std::uint32_t communicator = builder.AddCommunicator(8, 3);
  builder.AddRange({0, 5, "ncclGroupStart", "NCCL"});
  builder.AddCall({20, 30, "AllReduce", 4'096, communicator});
  builder.AddRange({80, 200, "ncclGroupEnd", "NCCL"});
  builder.AddKernel(300, 400, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)",
                    builder.AddApi(100, 110, "cuLaunchKernelEx"));
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const RowModel model = BuildRows(run);
  const Links links(run, model);
  std::map<std::string, std::string> details;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].kind != RowKind::kStream) continue;
    const EventRef kernel{row, 0, 0};
    for (const auto& [what, value] : EventDetails(run, model, kernel, links.Of(kernel))) {
      details[what] = value;
    }
  }
  EXPECT_EQ(details["issued by"], "AllReduce");
  EXPECT_EQ(details["bytes"], "4.096 kB");
}

TEST(EventTextOfCollectives, WhatNcclChoseIsShown) {
  RankBuilder builder;
  // Calls of a group, which are over when their kernel is launched.
  builder.AddCall({100, 110, "AllReduce", 4'096, builder.AddCommunicator(8, 3)});
  builder.AddCall({120, 130, "AllReduce", 4'096, 0});
  builder.rank().communicators[0].name = "tensor_parallel";
  const std::uint32_t launch = builder.AddApi(150, 160, "cuLaunchKernelEx");
  builder.AddKernel(300, 400, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", launch);
  builder.AddPlan(0, launch);
  builder.AddPlan(1, launch);
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const RowModel model = BuildRows(run);
  const Links links(run, model);
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const RowKind kind = model.rows[row].kind;
    if (kind != RowKind::kStream && kind != RowKind::kCollectives) continue;
    const EventRef event{row, 0, 0};
    std::map<std::string, std::string> details;
    for (const auto& [what, value] : EventDetails(run, model, event, links.Of(event)))
      details[what] = value;
    if (kind == RowKind::kStream) {
      EXPECT_EQ(details["issued by"], "AllReduce and 1 more in one group");
    }
    EXPECT_EQ(details["datatype"], "ncclBfloat16");
    EXPECT_EQ(details["algorithm"], "RING");
    EXPECT_EQ(details["protocol"], "SIMPLE");
    EXPECT_EQ(details["channels"], "24");
    EXPECT_EQ(details["sequence"], "5");
    EXPECT_EQ(details["named"], "tensor_parallel");
  }
}

TEST_F(EventText, CopiesHaveBytesAndRate) {
  const EventRef copy = First(RowKind::kStream, "host to device");
  EXPECT_EQ(Value(copy, "bytes"), "1.000 MB");
  EXPECT_EQ(Value(copy, "rate"), "20.00 GB/s");
  EXPECT_EQ(Value(copy, "launched by"), "not recorded");
}

TEST_F(EventText, CallsSayWhatTheyLaunched) {
  const EventRef call = First(RowKind::kCalls, "cudaLaunchKernel");
  EXPECT_EQ(Value(call, "result"), "success");
  EXPECT_EQ(Value(call, "launched"), "ns::sgemm_kernel");
  EXPECT_EQ(Value(call, "launch to start"), "90.00 us");
}

TEST(EventTextOfMemory, CallsSayWhatTheyAllocated) {
  RankBuilder builder;
  builder.AddMemory(101, 2'000'000, 0x7000, builder.AddApi(100, 110, "cudaMalloc"));
  builder.AddKernel(500, 510, "gemm");
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const RowModel model = BuildRows(run);
  const Links links(run, model);
  std::map<std::string, std::string> details;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].kind != RowKind::kCalls) continue;
    const EventRef call{row, 0, 0};
    for (const auto& [what, value] : EventDetails(run, model, call, links.Of(call)))
      details[what] = value;
  }
  EXPECT_EQ(details["allocated"], "2.000 MB of device memory at 0x7000");
}

TEST_F(EventText, RangesAndCollectivesAreDescribed) {
  const EventRef range = First(RowKind::kNvtx, "forward");
  EXPECT_EQ(Value(range, "range"), "forward");
  EXPECT_EQ(Value(range, "domain"), "default");
  EXPECT_EQ(Value(range, "kind"), "push and pop");
  const EventRef collective = First(RowKind::kCollectives, "AllReduce");
  EXPECT_EQ(Value(collective, "bytes"), "4.096 kB");
  EXPECT_EQ(Value(collective, "reduction"), "sum");
  EXPECT_EQ(Value(collective, "ranks"), "2");
}

TEST_F(EventText, PiecesOfTheGpuRowHaveTheTimesOfTheOperation) {
  // The collective's kernel begins under a kernel: its first piece is shorter than itself.
  const EventRef piece = First(RowKind::kDevice, "nccl");
  const auto [start, end] = EventTimes(run_, rows_, piece);
  EXPECT_EQ(end - start, 400'000);
  EXPECT_LT(rows_.lane(piece).end(piece.event) - rows_.lane(piece).start(piece.event), 400'000);
  EXPECT_EQ(Value(piece, "duration"), "400.0 us");
}

TEST_F(EventText, MomentsBeforeTheFirstOperationAreNegative) {
  EXPECT_EQ(FormatMoment(rows_, rows_.origin - 1'500'000'000), "-1.500000000 s");
}

TEST_F(EventText, AGraphLaunchNamesTheNumberOfItsOperations) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "run.db").string();
  {
    RunDbFixture file(path, {.end_ns = 1'000'000});
    const auto id = file.AddApi({.start_ns = 0,
                                 .dur_ns = 5'000,
                                 .name = "cudaGraphLaunch",
                                 .api_class = ApiClass::kGraphLaunch});
    for (std::uint32_t node = 1; node <= 3; ++node) {
      file.AddKernel(
          {.start_ns = node * 10'000, .dur_ns = 5'000, .correlation = id, .graph_node = node});
    }
    file.Close();
  }
  const LoadResult loaded = LoadWithRows({path}, {});
  ASSERT_TRUE(loaded.ok()) << loaded.error();
  const LoadedRun& graph = *loaded.value();
  const auto is_calls = [](const Row& row) { return row.kind == RowKind::kCalls; };
  const auto row = std::find_if(graph.rows.rows.begin(), graph.rows.rows.end(), is_calls);
  ASSERT_NE(row, graph.rows.rows.end());
  const EventRef call{static_cast<std::uint32_t>(row - graph.rows.rows.begin()), 0, 0};
  ASSERT_EQ(EventLabel(graph.run, graph.rows, call), "cudaGraphLaunch");
  const auto details =
      EventDetails(graph.run, graph.rows, call, Links(graph.run, graph.rows).Of(call));
  EXPECT_NE(std::find(details.begin(), details.end(), Detail("launched", "3 operations")),
            details.end());
}

}  // namespace
}  // namespace traceinject
