// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/comm_waits.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "analyzer/ranks/causes/rank_waits.h"
#include "analyzer/ranks/match/align_clocks.h"
#include "analyzer/ranks/match/match_ranks.h"
#include "analyzer/ranks/summary/summarise_rank.h"

namespace traceinject {
namespace {

struct Place {
  std::uint32_t rank = 0, device = 0;  // indices into Run::ranks and Rank::devices
};

std::uint32_t DeviceOf(const Rank& rank, int ordinal) {
  const auto found = std::find_if(rank.devices.begin(), rank.devices.end(),
                                  [&](const Device& device) { return device.ordinal == ordinal; });
  return static_cast<std::uint32_t>(found - rank.devices.begin());
}

}  // namespace

CommWaits::CommWaits(const Run& run) {
  if (run.ranks.size() < 2) return;
  Job job;
  job.base_ns = run.base_ns;
  std::vector<Place> places;  // as job.ranks
  for (std::uint32_t rank = 0; rank < run.ranks.size(); ++rank) {
    splits_.emplace_back(run.ranks[rank].devices.size());
    for (RankSummary& summary : SummarizeOperations(run.ranks[rank])) {
      places.push_back({rank, DeviceOf(run.ranks[rank], summary.device)});
      job.ranks.push_back(std::move(summary));
    }
  }
  held_up_.resize(run.ranks.size());
  if (job.ranks.empty()) return;
  const RankMatches matches = MatchRanks(job);
  const ClockAlignment clocks = AlignClocks(job, matches);
  const JobWaits waits = FindWaits(job, matches, clocks);
  for (std::size_t i = 0; i < places.size(); ++i)
    held_up_[places[i].rank] += waits.ranks[i].all.caused_ns;
  for (std::size_t g = 0; g < matches.groups.size(); ++g) {
    const MatchedGroup& group = matches.groups[g];
    for (std::size_t at = 0; at < group.operations; ++at) {
      if (!waits.groups[g][at].measured) continue;
      for (std::size_t member = 0; member < group.members.size(); ++member) {
        const std::uint32_t row = group.row(at, member);
        if (row == kNone) continue;
        const TimeNs wait = WaitOf(job, clocks, group, waits.groups[g][at], at, member);
        if (wait <= 0) continue;
        const auto [summary, own] = group.members[member];
        const TimeNs start = job.ranks[summary].groups[own].start[row];
        splits_[places[summary].rank][places[summary].device].push_back({start, start + wait});
      }
    }
  }
  for (auto& devices : splits_) {
    for (std::vector<Split>& splits : devices) {
      std::sort(splits.begin(), splits.end(),
                [](const Split& a, const Split& b) { return a.start < b.start; });
    }
  }
}

std::optional<TimeNs> CommWaits::TransferStart(std::uint32_t rank, std::uint32_t device,
                                               TimeNs start_ns) const {
  if (rank >= splits_.size() || device >= splits_[rank].size()) return std::nullopt;
  const std::vector<Split>& splits = splits_[rank][device];
  const auto found =
      std::lower_bound(splits.begin(), splits.end(), start_ns,
                       [](const Split& split, TimeNs start) { return split.start < start; });
  if (found == splits.end() || found->start != start_ns) return std::nullopt;
  return found->transfer;
}

}  // namespace traceinject
