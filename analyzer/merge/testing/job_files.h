// SPDX-License-Identifier: Apache-2.0
// For tests: recordings of the ranks of a job that exchange data every 10 ms.
#pragma once

#include <cmath>
#include <string>

#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/model/testing/units.h"

namespace traceinject {

struct RankFile {
  int rank = 0, world_size = 2;
  std::string host = "node-a", run_id = "job-1";
  // Of the rank's clock before that of rank 0: its base is that much later, and so are its times.
  TimeNs ahead_ns = 0;
  double drift = 0;  // by how much its clock gains per ns
  std::uint64_t communicator = 0x1000;
  int operations = 50;
  TimeNs base_later_ns = 0;
};

// What a clock shows at a moment of rank 0's.
inline TimeNs AsShown(const RankFile& facts, TimeNs time) {
  return time + facts.ahead_ns - facts.base_later_ns +
         static_cast<TimeNs>(std::llround(facts.drift * static_cast<double>(time)));
}

inline RunDbFixture WriteRank(const std::string& path, const RankFile& facts) {
  const std::int64_t tid = 100 + facts.rank;
  RunDbFixture file(path, {.base_ns = 1'700'000'000'000'000'000 + facts.base_later_ns,
                           .run_id = facts.run_id,
                           .host = facts.host,
                           .pid = tid,
                           .rank = facts.rank,
                           .local_rank = 0,
                           .world_size = facts.world_size,
                           .start_ns = AsShown(facts, 0),
                           .end_ns = AsShown(facts, facts.operations * 10 * kMs),
                           .views = true});
  file.AddDevice({.uuid = "GPU-" + std::to_string(facts.rank)});
  const auto shown = [&](TimeNs time) { return AsShown(facts, time); };
  const std::uint32_t communicator = file.AddCommunicator({.hash = facts.communicator,
                                                           .created_ns = shown(0),
                                                           .size = facts.world_size,
                                                           .rank = facts.rank,
                                                           .device = 0});
  for (int i = 0; i < facts.operations; ++i) {
    const TimeNs start = i * 10 * kMs;
    file.AddLaunchedKernel({.start_ns = shown(start + kMs / 2),
                            .dur_ns = (facts.rank + 1) * kMs / 4,
                            .name = "gemm_of_rank_" + std::to_string(facts.rank)},
                           shown(start - 20'000), 5'000, tid);
    const auto call = file.AddApi({.start_ns = shown(start), .dur_ns = 5'000, .tid = tid});
    file.AddCollective({.start_ns = shown(start - 1'000),
                        .dur_ns = 7'000,
                        .bytes = 1 << 20,
                        .communicator = communicator,
                        .tid = tid});
    // Each comes at its own time; they leave together.
    const TimeNs comes = shown(start + (facts.rank + 1) * kMs);
    file.AddKernel({.start_ns = comes,
                    .dur_ns = shown(start + 8 * kMs) - comes,
                    .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                    .stream = 20,
                    .correlation = call});
    file.AddStepMark({.time_ns = shown(start + 9 * kMs), .tid = tid});
  }
  return file;
}

}  // namespace traceinject
