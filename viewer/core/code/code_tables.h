// SPDX-License-Identifier: Apache-2.0
// The figures of `analyze code`, and for each line where the GPU waited for it longest.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/metrics/places/code_grouping.h"
#include "analyzer/view/rows/marked_places.h"
#include "schemas/report.pb.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

inline constexpr std::size_t kCodeGroupings =
    static_cast<std::size_t>(CodeGrouping::kEachModule) + 1;

// Idle time, most of which was for a place.
struct LongestWait {
  std::uint32_t rank = 0, device = 0;  // indices
  Interval time;
  double ns = 0;  // that the place had of it
};

struct CodeTables {
  std::array<proto::Report, kCodeGroupings> by;  // by CodeGrouping
  bool has_modules = false;                      // without them those of modules are empty
  // By rank and place in the code.
  std::map<std::pair<std::uint32_t, std::uint32_t>, LongestWait> waits;
};

// Empty if cancelled. As long as `analyze` takes for the run.
std::optional<CodeTables> FindCode(const Run& run, const std::atomic<bool>& cancelled);

// The longest of the marked places; empty: none of them has any.
std::optional<LongestWait> LongestOf(const CodeTables& tables, const MarkedPlaces& marked);

// Marks the places of a row of a table and shows the longest wait for them; without one their
// longest box.
void ShowCode(const CodeTables& tables, const CodeKey& key, Timeline& timeline);

}  // namespace traceinject
