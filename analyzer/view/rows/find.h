// SPDX-License-Identifier: Apache-2.0
// Events by name and length.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

struct FindQuery {
  std::string text;                 // anywhere in the name, ASCII letters of either case
  bool whole = false;               // the label is exactly the text
  std::vector<std::uint32_t> rows;  // indices into RowModel::rows
  TimeNs shortest_ns = 0;           // lengths in [shortest_ns, longest_ns)
  TimeNs longest_ns = kOpen;
  bool operator==(const FindQuery&) const = default;
};

// Lengths on a logarithmic axis: four bins to a power of two, and one for 0.
class LengthBins {
 public:
  static constexpr std::size_t kCount = 1 + 4 * 63;
  // Length must not be negative. O(1).
  static std::size_t Of(TimeNs length_ns);
  // The shortest length that falls into the bin or a later one; kOpen behind the last.
  static TimeNs Start(std::size_t bin);
};

struct FindResult {
  // What lies beyond is counted and marked, but not listed.
  static constexpr std::size_t kMaxHits = 1'000'000;
  static constexpr std::size_t kMarks = 2048;

  FindQuery query;
  std::size_t count = 0;       // all hits
  TimeNs total_ns = 0;         // of all hits
  std::vector<EventRef> hits;  // by start: the first kMaxHits
  // Events of that name by length, those too short or too long included.
  std::array<std::size_t, LengthBins::kCount> lengths = {};
  std::vector<bool> marks;  // of each of kMarks equal parts of the run: a hit starts in it

  bool operator==(const FindResult&) const = default;
};

// Empty if cancelled. O(events of the rows), hits O(log).
std::optional<FindResult> FindEvents(const Run& run, const RowModel& model, const FindQuery& query,
                                     const std::atomic<bool>& cancelled);

}  // namespace traceinject
