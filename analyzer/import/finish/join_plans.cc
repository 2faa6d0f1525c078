// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/join_plans.h"

#include <algorithm>

namespace traceinject {
namespace {

// The calls of each thread that launch a kernel, in order of their start.
class KernelLaunches {
 public:
  explicit KernelLaunches(const Rank& rank) : rank_(rank), of_thread_(rank.threads.size()) {
    const ApiCalls& api = rank.api;
    for (std::uint32_t row = 0; row < api.size(); ++row) {
      if (rank.api_names[api.name[row]].api_class == ApiClass::kLaunch &&
          api.thread[row] < of_thread_.size()) {
        of_thread_[api.thread[row]].push_back(row);
      }
    }
  }

  std::uint32_t FirstIn(std::uint32_t thread, TimeNs start, TimeNs end) const {
    const auto& rows = of_thread_[thread];
    const auto found = FirstFrom(rows, start);
    return found == rows.end() || rank_.api.start[*found] >= end ? kNone : *found;
  }
  std::uint32_t LastBefore(std::uint32_t thread, TimeNs time) const {
    const auto& rows = of_thread_[thread];
    const auto found = FirstFrom(rows, time);
    return found == rows.begin() ? kNone : *(found - 1);
  }

 private:
  std::vector<std::uint32_t>::const_iterator FirstFrom(const std::vector<std::uint32_t>& rows,
                                                       TimeNs time) const {
    return std::lower_bound(rows.begin(), rows.end(), time, [&](std::uint32_t row, TimeNs wanted) {
      return rank_.api.start[row] < wanted;
    });
  }

  const Rank& rank_;
  std::vector<std::vector<std::uint32_t>> of_thread_;
};

}  // namespace

void JoinPlans(Rank& rank) {
  CollectivePlans& plans = rank.plans;
  rank.collectives.plan.assign(rank.collectives.size(), kNone);
  plans.launch.assign(plans.size(), kNone);
  if (plans.size() == 0) return;
  const KernelLaunches launches(rank);
  for (std::uint32_t row = 0; row < plans.size(); ++row) {
    std::uint32_t& first = rank.collectives.plan[plans.collective[row]];
    if (first == kNone) first = row;
    plans.launch[row] =
        plans.launch_start[row] != kOpen
            ? launches.FirstIn(plans.thread[row], plans.launch_start[row], plans.launch_end[row])
            : launches.LastBefore(plans.thread[row], plans.time[row]);
  }
}

}  // namespace traceinject
