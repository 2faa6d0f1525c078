// SPDX-License-Identifier: Apache-2.0
// For tests: reads a Perfetto trace by its published format, and checks what trace_processor needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace traceinject {

struct TracedSlice {
  std::uint64_t start_ns = 0, end_ns = 0;                      // of a mark the same
  std::string name, category, process, thread, track, parent;  // names of tracks
  std::map<std::string, std::string> arguments;
  std::vector<std::uint64_t> flows, ending_flows;
};

struct TracedValue {
  std::uint64_t time_ns = 0;
  std::string track, parent, unit;
  double value = 0;
};

struct PerfettoContents {
  std::vector<TracedSlice> slices;  // in the order in which they begin in the file
  std::vector<TracedValue> values;
  std::vector<std::int64_t> pids;
  std::vector<std::string> complaints;  // rules that are broken
};

PerfettoContents ReadPerfettoTrace(const std::string& path);

}  // namespace traceinject
