// SPDX-License-Identifier: Apache-2.0
// Who held a GPU up: what the program did while a piece of idle time lasted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/metrics/places/device_places.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/rows.h"

namespace traceinject {

struct HeldUp {
  EventRef gap;
  std::uint32_t rank = 0;
  IdlePlaces host;      // as `analyze code` counts it
  TimeByPlace workers;  // of a wait for data: what the loader's workers did
  // Where no sample of theirs fell into it: their lines of the program before and after it, if they
  // stayed there, and how many workers did.
  std::map<std::uint32_t, int> workers_around;
  // Where nobody looked at the thread meanwhile: what it was at before and after, or at the look
  // that is nearest; kNone: none is near.
  std::uint32_t near_place = kNone;
  TimeNs away_ns = 0;  // how far that look is; 0: it was there before and after
  // The line that launched the operation which ended the gap, where its stack was taken.
  std::uint32_t launched_at = kNone;

  // The line that had most of it, as far as is known; kNone: nothing is.
  std::uint32_t place() const;
};

// Keeps what gaps of a device have in common. All but `gap` must outlive it.
class HeldUpFinder {
 public:
  HeldUpFinder(const Run& run, const RowModel& model) : run_(run), model_(model) {}

  // Of an event of a row of idle time. Without stacks nothing is known.
  // O(samples + calls), the first time of a device O(events log events).
  HeldUp Find(const EventRef& gap);

 private:
  struct OfRank {
    explicit OfRank(const Rank& rank) : sites(rank), looks(LooksOfThreads(rank)) {}
    CodeSites sites;
    std::vector<LookRuns> looks;
  };
  const OfRank& RankOf(std::uint32_t rank);
  const DeviceAnalysis& DeviceOf(std::uint32_t rank, std::uint32_t device);
  // Of a wait for data.
  void FindWorkers(const OfRank& of_rank, const Rank& rank, const Interval& time,
                   HeldUp& found) const;
  void FindNear(const OfRank& of_rank, TimeNs period, const Interval& time, HeldUp& found) const;

  const Run& run_;
  const RowModel& model_;
  std::map<std::uint32_t, OfRank> ranks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, DeviceAnalysis> devices_;
};

// Whether the event is one of idle time, so that there is something to find.
bool IsIdleTime(const RowModel& model, const EventRef& ref);

// For the panel with details: "held up by", "train.py:41 in load (choice of numpy/random): 93 % of
// 14 samples"; "workers meanwhile"; "launched at".
std::vector<Detail> HeldUpDetails(const Run& run, const RowModel& model, const HeldUp& found);

}  // namespace traceinject
