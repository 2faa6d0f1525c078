// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/allocation_calls.h"

#include <algorithm>
#include <unordered_map>

namespace traceinject {

void AllocationCounter::Add(const Rank& rank, const Intervals& windows) {
  std::unordered_map<std::uint64_t, std::int64_t> bytes_of;  // by correlation
  for (std::size_t i = 0; i < rank.memory.size(); ++i)
    bytes_of[rank.memory.correlation[i]] += rank.memory.bytes[i];
  for (std::size_t call = 0; call < rank.api.size(); ++call) {
    const ApiName& name = rank.api_names[rank.api.name[call]];
    const TimeNs start = rank.api.start[call], end = rank.api.end[call];
    if (name.api_class != ApiClass::kAllocate || !Contains(windows, start)) continue;
    AllocationCalls& calls = by_api_[name.name];
    calls.api = name.name;
    ++calls.count;
    calls.failed += rank.api.result[call] != 0 ? 1 : 0;
    const TimeNs length = end == kOpen ? 0 : end - start;
    calls.total_ns += length;
    calls.max_ns = std::max(calls.max_ns, length);
    if (const auto bytes = bytes_of.find(rank.api.correlation[call]); bytes != bytes_of.end())
      calls.bytes = calls.bytes.value_or(0) + bytes->second;
  }
}

std::vector<AllocationCalls> AllocationCounter::Finish() const {
  std::vector<AllocationCalls> list;
  for (const auto& [api, calls] : by_api_) list.push_back(calls);
  std::stable_sort(
      list.begin(), list.end(),
      [](const AllocationCalls& a, const AllocationCalls& b) { return a.total_ns > b.total_ns; });
  return list;
}

}  // namespace traceinject
