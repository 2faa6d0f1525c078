// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/worker_places.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace traceinject {
namespace {

// Of Python's queues and pipes: the worker has nothing to do, or nobody takes what it has done.
bool WaitsForOthers(const Rank& rank, const CodeSite& site) {
  if (site.own || site.place == kNone) return false;
  const std::string_view file = rank.string(rank.places[site.place].file);
  return file.find("multiprocessing/") != std::string_view::npos ||
         file.ends_with("selectors.py") || file.ends_with("threading.py") ||
         file.ends_with("queue.py");
}

}  // namespace

TimeByPlace WorkerTimeByPlace(const Rank& rank, const std::vector<LookRuns>& looks,
                              const CodeSites& sites, const Intervals& times) {
  PlaceTally tally;
  tally.AddTime(Length(times));
  std::set<std::int64_t> pids;
  for (const Worker& worker : rank.workers) pids.insert(worker.pid);
  for (std::size_t thread = 0; thread < looks.size(); ++thread) {
    if (!pids.contains(rank.threads[thread].tid)) continue;
    LookSweep sweep(looks[thread]);
    for (const Interval& time : times) {
      sweep.ForEach(time, [&](std::uint32_t stack, const LooksIn& count) {
        const CodeSite site = sites.Of(stack);
        if (!WaitsForOthers(rank, site)) tally.AddLooks(site, count);
      });
    }
  }
  return tally.Finish();
}

}  // namespace traceinject
