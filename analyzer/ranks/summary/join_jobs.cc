// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/join_jobs.h"

#include <algorithm>
#include <utility>

namespace traceinject {
namespace {

// Adds `by` to every time.
void Shift(RankSummary& summary, TimeNs by) {
  if (by == 0) return;
  summary.start += by;
  summary.end += by;
  for (StepFacts& step : summary.steps) {
    step.time.start += by;
    step.time.end += by;
  }
  for (GroupOperations& group : summary.groups) {
    for (TimeNs& time : group.start) time += by;
    for (TimeNs& time : group.end) time += by;
    for (TimeNs& time : group.launch) time += time == kOpen ? 0 : by;
  }
  for (TimeNs& time : summary.work.start) time += by;
  for (TimeNs& time : summary.work.end) time += by;
  for (HungFacts& hung : summary.hung) hung.since += by;
}

}  // namespace

Job JoinJobs(std::vector<Job> jobs) {
  Job all;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    all.base_ns = i == 0 ? jobs[i].base_ns : std::min(all.base_ns, jobs[i].base_ns);
  for (Job& job : jobs) {
    for (RankSummary& rank : job.ranks) {
      Shift(rank, job.base_ns - all.base_ns);
      all.ranks.push_back(std::move(rank));
    }
    for (std::string& note : job.notes) all.notes.push_back(std::move(note));
    job = {};
  }
  return all;
}

}  // namespace traceinject
