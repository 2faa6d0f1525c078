// SPDX-License-Identifier: Apache-2.0
// From the operations of one rank of a timeline to its summary.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/ranks/summary/rank_summary.h"
#include "analyzer/ranks/timeline/timeline_record.h"

namespace traceinject {

// A row of a timeline, without its texts.
struct TimelineRow {
  TimeNs start = 0, end = 0;
  std::int64_t step = -1;  // as told; -1: in none
  const TimelineKind* kind = nullptr;
  std::int32_t micro_batch = -1, peer = -1;
  std::uint32_t group = kNone;  // of a collective: index into TimelineTexts::groups
  std::uint32_t size = 0;       // its number of bytes: index into TimelineTexts::bytes
};

// What rows of all ranks refer to.
struct TimelineTexts {
  struct Group {
    std::string name;
    int size = 0;  // 0: not told
  };
  std::vector<Group> groups;
  std::vector<std::int64_t> bytes;
  std::vector<std::int64_t> steps;  // all there are, by number
};

// Fills in what follows from the operations: steps, groups, and work. `rows`: in any order; they
// are sorted. Times become relative to `base_ns`. `notes`: what was left out. O(rows log rows).
void SummarizeTimeline(std::vector<TimelineRow> rows, const TimelineTexts& texts,
                       std::int64_t base_ns, RankSummary& to, std::vector<std::string>& notes);

}  // namespace traceinject
