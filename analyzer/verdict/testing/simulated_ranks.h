// SPDX-License-Identifier: Apache-2.0
// Ranks that train together, played by the rules of collectives: each waits for its data, works,
// and all leave the exchange of gradients together, kTransferNs after the last has come. The
// program reads its loss in each step.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {

struct RankPlan {
  TimeNs work_ns = 10'000'000;
  TimeNs data_wait_ns = 0;
  TimeNs sleep_ns = 0;  // of the host before it launches: nothing records it
  TimeNs more_ns = 0;   // of work in every `every`-th step, beginning with step `first`
  int every = 1, first = 0;
};

inline constexpr int kRankSteps = 24;
inline constexpr TimeNs kTransferNs = 1'000'000;

class SimulatedRank {
 public:
  SimulatedRank(const RankPlan& plan, int number, int ranks) : plan_(plan) {
    communicator_ = builder_.AddCommunicator(ranks, number, 0);
    builder_.rank().rank = number;
    builder_.rank().devices[0].cc_major = 9;
    builder_.rank().health = {{"kernel", "seen", 1, ""}, {"kernel", "stored", 1, ""}};
  }

  // When it comes to the exchange of a step that begins at `start`.
  TimeNs Comes(int step, TimeNs start) const { return Begins(start) + WorkOf(step); }

  void Step(int step, TimeNs start, TimeNs end) {
    const TimeNs begins = Begins(start), comes = Comes(step, start);
    const TimeNs host = start + plan_.data_wait_ns + plan_.sleep_ns;
    if (plan_.data_wait_ns > 0) builder_.AddDataWait(start, start + plan_.data_wait_ns);
    const std::uint32_t work = builder_.AddApi(host + 1'000, host + 4'000, "cudaLaunchKernel");
    const std::uint32_t exchange = builder_.AddApi(host + 6'000, host + 9'000, "cudaLaunchKernel");
    builder_.AddCall({host + 5'000, host + 10'000, "AllReduce", 1 << 25, communicator_});
    builder_.AddApi(host + 12'000, end + 2'000, "cudaStreamSynchronize");
    builder_.AddKernel(begins, comes, "ampere_bf16_s16816gemm_bf16_128x128_nn", work);
    builder_.AddKernel(comes, end, "ncclDevKernel_AllReduce_Sum", exchange);
    builder_.AddStepMark(end + 3'000);
    builder_.rank().end = end + 10'000;
  }

  Rank Take() { return std::move(builder_.rank()); }

 private:
  TimeNs Begins(TimeNs start) const { return start + plan_.data_wait_ns + plan_.sleep_ns + 6'000; }
  TimeNs WorkOf(int step) const {
    return plan_.work_ns + (step % plan_.every == plan_.first ? plan_.more_ns : 0);
  }

  RankPlan plan_;
  RankBuilder builder_;
  std::uint32_t communicator_ = 0;
};

inline Run RunOfRanks(const std::vector<RankPlan>& plans) {
  std::vector<SimulatedRank> ranks;
  for (const RankPlan& plan : plans)
    ranks.emplace_back(plan, static_cast<int>(ranks.size()), static_cast<int>(plans.size()));
  TimeNs start = 0;
  for (int step = 0; step < kRankSteps; ++step) {
    TimeNs end = 0;
    for (const SimulatedRank& rank : ranks) end = std::max(end, rank.Comes(step, start));
    end += kTransferNs;
    for (SimulatedRank& rank : ranks) rank.Step(step, start, end);
    start = end + 5'000;
  }
  Run run;
  for (SimulatedRank& rank : ranks) run.ranks.push_back(rank.Take());
  return run;
}

}  // namespace traceinject
