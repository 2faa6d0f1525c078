// SPDX-License-Identifier: Apache-2.0
// How many training steps recordings hold that are still written.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/common/sqlite.h"
#include "analyzer/metrics/steps/steps.h"

namespace traceinject {

class StepsSoFar {
 public:
  // Of the process that has the fewest of those that have any; empty: none has. Counts as the
  // report does, by marks of the optimizer or by NVTX ranges that name steps; steps that only their
  // work tells are not known yet. Each row is read once, whatever the number of calls: O(new rows).
  // The writers are not kept from anything.
  std::optional<std::int64_t> Count(const std::vector<std::string>& recordings);

 private:
  struct Ranges {
    std::int64_t count = 0, dur_ns = 0;
  };
  struct Process {
    std::int64_t last_mark = 0, last_range = 0;  // rowids
    // Ranges that were open when they were stored have negative rowids and are stored again when
    // they end (injector/store/row_writer.h).
    std::int64_t last_open_range = 0;
    std::set<std::int64_t> open_ranges;  // of these, rowids of those that had not ended
    std::map<std::uint32_t, MarkSpan> optimizers;
    std::map<std::string, Ranges> ranges;                      // by what stands before their number
    std::unordered_map<std::int64_t, std::string> step_names;  // of texts; empty: names no step
    void Read(const Database& recording);
    void ReadMarks(const Database& recording);
    void ReadRanges(const Database& recording);
    void ReadOpenRanges(const Database& recording);
    void AddRange(const Statement& row, const Database& recording);
    const std::string& StepName(std::int64_t text, const Database& recording);
    std::int64_t marks() const;
    std::int64_t steps() const;
  };

  std::map<std::string, Process> processes_;  // by path
};

}  // namespace traceinject
