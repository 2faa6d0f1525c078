// SPDX-License-Identifier: Apache-2.0
// How long events take, by name, in any rows and any stretch of time.
//
// An event counts where it starts, with its whole length, as in the report. Percentiles are the
// nearest rank: always a length that occurs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

struct StatisticsQuery {
  std::vector<std::uint32_t> rows;  // indices into RowModel::rows
  TimeNs start = 0, end = 0;        // [start, end)
  bool operator==(const StatisticsQuery&) const = default;
};

struct NameStatistics {
  std::string name;
  std::size_t count = 0;
  TimeNs total_ns = 0;
  double mean_ns = 0;
  TimeNs median_ns = 0, p99_ns = 0, min_ns = 0, max_ns = 0;
  double share = 0;  // of the total of all names
};

struct Statistics {
  StatisticsQuery query;
  std::vector<NameStatistics> names;  // by total, largest first
  NameStatistics all;                 // without name
};

// Empty if cancelled. O(events in range).
std::optional<Statistics> ComputeStatistics(const Run& run, const RowModel& model,
                                            const StatisticsQuery& query,
                                            const std::atomic<bool>& cancelled);

enum class StatisticsColumn : std::uint8_t {
  kName,
  kCount,
  kTotal,
  kShare,
  kMean,
  kMedian,
  kP99,
  kMin,
  kMax,
};

// Equal ones by name. O(n log n).
void SortStatistics(std::vector<NameStatistics>& names, StatisticsColumn column, bool descending);

// A choice of rows, by what is in them: "GPU operations", "NVTX ranges", ...
struct RowGroup {
  std::string title;
  std::vector<std::uint32_t> rows;
};

// The groups of this run, rows of all ranks together. Summaries of GPUs are left out: what they
// hold stands in the rows of the streams.
std::vector<RowGroup> RowGroups(const RowModel& model);

// The rows that hold the events of one row: itself; of a GPU or a rank, its streams.
RowGroup GroupOfRow(const RowModel& model, std::uint32_t row);

// Where the events of a lane begin that start in [start, end): indices [first, last). O(log n).
std::pair<std::uint32_t, std::uint32_t> EventsStartingIn(const Lane& lane, TimeNs start,
                                                         TimeNs end);

}  // namespace traceinject
