// SPDX-License-Identifier: Apache-2.0
// For tests: a recording with one of everything that traces hold, and with what is hard to write.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/run_db_fixture.h"

namespace traceinject {

// Two kernels of a stream overlap, ranges overlap without nesting, a graph launch runs three
// kernels, one operation has no known launch, a range is open at the end, names are hostile.
inline void WriteSampleRecording(const std::string& path, const RunDbFixture::Options& options) {
  RunDbFixture file(path, options);
  file.AddDevice({});
  file.AddLaunchedKernel({.start_ns = 10'001, .dur_ns = 5'003, .name = "first \"quoted\" \\ <k>"},
                         1'000, 700);
  file.AddLaunchedKernel({.start_ns = 14'000,
                          .dur_ns = 9'999,
                          .name = "_Z6secondPf",
                          .grid = {4, 3, 2},
                          .block = {64, 2, 1}},
                         2'000, 700);
  file.AddLaunchedKernel({.start_ns = 14'500, .dur_ns = 1, .name = "short", .stream = 8}, 3'000, 0);
  const auto graph = file.AddApi({.start_ns = 4'000,
                                  .dur_ns = 900,
                                  .name = "cudaGraphLaunch",
                                  .api_class = ApiClass::kGraphLaunch});
  for (int node = 1; node <= 3; ++node)
    file.AddKernel({.start_ns = 30'000 + node * 1'000,
                    .dur_ns = 500,
                    .name = "node",
                    .correlation = graph,
                    .graph_node = static_cast<std::uint32_t>(node)});
  const auto copy = file.AddApi({.start_ns = 5'000,
                                 .dur_ns = 300,
                                 .name = "cuMemcpyHtoDAsync",
                                 .api_class = ApiClass::kCopy,
                                 .domain = ApiDomain::kDriver});
  file.AddMemcpy({.start_ns = 26'000, .dur_ns = 1'500, .bytes = 3'000, .correlation = copy});
  file.AddMemset({.start_ns = 28'000, .dur_ns = 100, .bytes = 64});
  // Nested; the same start; a mark; beside each other; open; on another thread.
  file.AddNvtx({.start_ns = 500, .dur_ns = 6'000, .text = "step \x1b[31m\xff\n1"});
  file.AddNvtx({.start_ns = 900, .dur_ns = 2'000, .text = "forward"});
  file.AddNvtx({.start_ns = 900, .dur_ns = 1'000, .text = "layer", .domain = "torch"});
  file.AddNvtx({.start_ns = 2'950, .dur_ns = 0, .text = "mark", .kind = NvtxKind::kMark});
  file.AddNvtx(
      {.start_ns = 4'500, .dur_ns = 40'000, .text = "beside", .kind = NvtxKind::kStartEnd});
  file.AddNvtx({.start_ns = 50'000, .dur_ns = std::nullopt, .text = "open"});
  file.AddNvtx({.start_ns = 2'000, .dur_ns = 10, .text = "elsewhere", .tid = 4300});
  const auto loader = file.AddDataLoader({.workers = 4});
  file.AddDataWait({.start_ns = 100, .dur_ns = 300, .loader = loader, .batch = 0, .samples = 32});
  file.AddStepMark({.time_ns = 6'400});
  file.AddHostSpan(
      {.start_ns = 45'000, .dur_ns = 1'000, .kind = HostSpanKind::kGarbageCollection, .detail = 2});
  file.AddGemm({.start_ns = 990, .dur_ns = 800, .m = 128, .n = 64, .k = 32});
  file.AddAttention({.start_ns = 1'990, .dur_ns = 800});
  const auto communicator = file.AddCommunicator({.size = 2, .rank = 0, .device = 0});
  file.AddCollective(
      {.start_ns = 5'400, .dur_ns = 600, .bytes = 4'096, .communicator = communicator});
  file.AddLaunchedKernel(
      {.start_ns = 36'000, .dur_ns = 700, .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"}, 5'500,
      100);
  file.AddGap(47'000, 2'000, "window");
  file.AddGap(55'000, std::nullopt, "max_size");
  file.AddDeviceSample(
      {.time_ns = 7'000, .sm_clock_mhz = 1980, .power_mw = 432'500, .memory_used_bytes = 0});
  file.AddDeviceSample({.time_ns = 8'000, .sm_clock_mhz = 1965});
  file.Close();
}

inline Run LoadSample(const std::string& path) {
  auto run = LoadRun({path}, {});
  EXPECT_TRUE(run.ok()) << run.error();
  return run.ok() ? std::move(run).value() : Run();
}

}  // namespace traceinject
