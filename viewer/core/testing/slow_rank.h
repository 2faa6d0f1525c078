// SPDX-License-Identifier: Apache-2.0
// For tests: a job with a verdict.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/model/testing/units.h"
#include "machine/testing/temporary_folder.h"
#include "viewer/core/load/background_load.h"

namespace traceinject {

inline constexpr int kSlowRankSteps = 24;
inline constexpr TimeNs kSlowRankBegin = 100 * kMs, kSlowRankStepNs = 7 * kMs;

// One of two ranks: a copy at first, then steps from kSlowRankBegin on, in which it computes for
// `work_ns` and then exchanges gradients until the step's end, as the other one does.
inline void WriteRankThatWorks(const std::string& path, int rank, TimeNs work_ns) {
  const std::int64_t tid = 100 + rank;
  RunDbFixture file(path, {.run_id = "job-1",
                           .host = "node-a",
                           .pid = tid,
                           .rank = rank,
                           .local_rank = rank,
                           .world_size = 2,
                           .end_ns = kSlowRankBegin + (kSlowRankSteps + 1) * kSlowRankStepNs});
  file.AddDevice({.uuid = "GPU-" + std::to_string(rank)});
  const auto group = file.AddCommunicator({.size = 2, .rank = rank, .device = 0});
  const auto copy = file.AddApi({.start_ns = 0,
                                 .dur_ns = 5 * kUs,
                                 .name = "cudaMemcpyAsync",
                                 .api_class = ApiClass::kCopy,
                                 .tid = tid});
  file.AddMemcpy({.start_ns = 10 * kUs,
                  .dur_ns = 50 * kUs,
                  .bytes = 1'000'000,
                  .stream = 13,
                  .correlation = copy});
  for (int step = 0; step < kSlowRankSteps; ++step) {
    const TimeNs start = kSlowRankBegin + step * kSlowRankStepNs;
    const TimeNs begins = start + 10 * kUs, end = start + kSlowRankStepNs - 20 * kUs;
    file.AddLaunchedKernel(
        {.start_ns = begins, .dur_ns = work_ns, .name = "ampere_bf16_s16816gemm_bf16_128x128_nn"},
        start + kUs, 3 * kUs, tid);
    file.AddCollective({.start_ns = start + 5 * kUs,
                        .dur_ns = 5 * kUs,
                        .bytes = 1 << 25,
                        .communicator = group,
                        .tid = tid});
    const auto exchange = file.AddApi({.start_ns = start + 6 * kUs, .dur_ns = 3 * kUs, .tid = tid});
    file.AddKernel({.start_ns = begins + work_ns,
                    .dur_ns = end - begins - work_ns,
                    .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                    .stream = 20,
                    .correlation = exchange});
    file.AddApi({.start_ns = start + 12 * kUs,
                 .dur_ns = end + 2 * kUs - start - 12 * kUs,
                 .name = "cudaStreamSynchronize",
                 .api_class = ApiClass::kSynchronize,
                 .tid = tid});
    file.AddStepMark({.time_ns = end + 3 * kUs, .tid = tid});
  }
  for (const char* counter : {"seen", "stored"})
    file.AddHealth("kernel", counter, 2 * kSlowRankSteps);
  file.Close();
}

// Of two ranks rank 1 computes longer, for which rank 0 waits: the straggler of the verdict. The
// files are those that the path stands for.
inline void WriteSlowRank(const std::string& path) {
  const std::string stem = path.substr(0, path.rfind('.'));
  WriteRankThatWorks(stem + ".rank00000.db", 0, 2 * kMs);
  WriteRankThatWorks(stem + ".rank00001.db", 1, 6 * kMs);
}

// Throws if it cannot be read.
inline std::unique_ptr<const LoadedRun> LoadSlowRank() {
  const TemporaryFolder folder;
  WriteSlowRank(folder / "run.db");
  LoadResult loaded = LoadWithRows({folder / "run.db"}, {});
  if (!loaded.ok()) throw std::runtime_error(loaded.error());
  return std::move(loaded).value();
}

}  // namespace traceinject
