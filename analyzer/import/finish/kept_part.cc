// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/kept_part.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <vector>

#include "analyzer/model/for_each_value.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

// Leaves the rows whose time is later, in all columns.
template <typename Times, typename... Columns>
void LeaveAfter(TimeNs from, Times& time, Columns&... columns) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t row = 0; row < time.size(); ++row) {
    if (time[row] > from) kept.push_back(row);
  }
  if (kept.size() == time.size()) return;
  if (kept.empty()) {
    time = {};
    ((columns = {}), ...);
    return;
  }
  ApplyOrder(kept, time, columns...);
}

void LeaveEvents(TimeNs from, Rank& rank) {
  for (Device& device : rank.devices) {
    GpuOps& ops = device.ops;
    LeaveAfter(from - 1, ops.start, ops.end, ops.kind, ops.kernel_class, ops.stream, ops.detail,
               ops.correlation, ops.graph_node);
  }
  ApiCalls& api = rank.api;
  LeaveAfter(from, api.end, api.start, api.thread, api.name, api.correlation, api.result);
  Syncs& syncs = rank.syncs;
  LeaveAfter(from, syncs.end, syncs.start, syncs.thread, syncs.kind, syncs.event, syncs.stream);
  NvtxRanges& nvtx = rank.nvtx;
  LeaveAfter(from, nvtx.end, nvtx.start, nvtx.thread, nvtx.kind, nvtx.domain, nvtx.text,
             nvtx.category);
  Gemms& gemms = rank.gemms;
  LeaveAfter(from, gemms.end, gemms.start, gemms.thread, gemms.shape);
  Attentions& attentions = rank.attentions;
  LeaveAfter(from, attentions.end, attentions.start, attentions.thread, attentions.shape,
             attentions.backward, attentions.gradient);
  DataWaits& waits = rank.data_waits;
  LeaveAfter(from, waits.end, waits.start, waits.thread, waits.loader, waits.batch, waits.samples);
  HostSpans& spans = rank.host_spans;
  LeaveAfter(from, spans.end, spans.start, spans.thread, spans.kind, spans.detail);
  StepMarks& marks = rank.step_marks;
  LeaveAfter(from, marks.time, marks.thread, marks.optimizer);
  MemoryOperations& memory = rank.memory;
  LeaveAfter(from, memory.time, memory.device, memory.release, memory.memory_kind, memory.bytes,
             memory.address, memory.correlation);
}

// Ids are given in the order in which calls begin.
std::uint64_t FirstCallAfter(TimeNs from, const ApiCalls& api) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t row = 0; row < api.size(); ++row) {
    if (api.start[row] >= from && api.correlation[row] != 0)
      first = std::min(first, api.correlation[row]);
  }
  return first;
}

}  // namespace

void LeaveKeptPart(Rank& rank) {
  const auto dropped = std::find_if(rank.gaps.begin(), rank.gaps.end(), [](const CaptureGap& gap) {
    return gap.reason == kKeepLast && gap.end != kOpen;
  });
  if (dropped == rank.gaps.end()) return;
  const TimeNs from = dropped->end;
  rank.gaps.erase(dropped);
  LeaveLastPart(from, rank);
}

void LeaveLastPart(TimeNs from, Rank& rank) {
  if (rank.kept_from && *rank.kept_from >= from) return;
  rank.kept_from = from;
  LeaveEvents(from, rank);
  rank.first_kept_call = FirstCallAfter(from, rank.api);
}

void FindLastStoredCall(Rank& rank) {
  if (rank.closed) return;
  std::uint64_t last = 0;
  for (std::size_t row = 0; row < rank.api.size(); ++row) {
    if (rank.api_names[rank.api.name[row]].domain == ApiDomain::kDriver)
      last = std::max(last, rank.api.correlation[row]);
  }
  if (last != 0) rank.last_stored_call = last;
}

void FindFirstLaunch(Rank& rank) {
  if (rank.imported_from.empty()) return;
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), lowest = first;
  std::uint32_t first_call = kNone;
  for (const Device& device : rank.devices) {
    ForEachValue(device.ops.correlation, [&](std::uint32_t row, std::uint64_t id) {
      if (id == 0) return;
      lowest = std::min(lowest, id);
      if (device.ops.launch[row] == kNone || id >= first) return;
      first = id;
      first_call = device.ops.launch[row];
    });
  }
  if (first_call == kNone || lowest == first) return;
  rank.first_kept_call = std::max(rank.first_kept_call, first);
  if (!rank.kept_from) rank.kept_from = rank.api.start[first_call];
}

void EndRangesWithWindows(Rank& rank) {
  std::vector<TimeNs> ends;  // by time, as gaps are
  for (const CaptureGap& gap : rank.gaps) {
    if (gap.planned()) ends.push_back(gap.start);
  }
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
    if (rank.nvtx.end[row] != kOpen) continue;
    const auto end = std::lower_bound(ends.begin(), ends.end(), rank.nvtx.start[row]);
    if (end != ends.end()) rank.nvtx.end.Set(row, *end);
  }
}

void FindCallsInGaps(Rank& rank) {
  if (std::none_of(rank.gaps.begin(), rank.gaps.end(), std::mem_fn(&CaptureGap::planned))) return;
  const ApiCalls& api = rank.api;
  constexpr std::uint64_t kNoCall = std::numeric_limits<std::uint64_t>::max();
  // Of the calls from each row on, the lowest id.
  std::vector<std::uint64_t> lowest(api.size() + 1, kNoCall);
  for (std::size_t row = api.size(); row-- > 0;) {
    const std::uint64_t id = api.correlation[row];
    lowest[row] = std::min(lowest[row + 1], id == 0 ? kNoCall : id);
  }
  std::uint64_t highest = 0;
  std::size_t row = 0;
  for (const CaptureGap& gap : rank.gaps) {
    if (!gap.planned()) continue;
    for (; row < api.size() && api.start[row] < gap.start; ++row)
      highest = std::max(highest, api.correlation[row]);
    const auto after = std::lower_bound(api.start.begin(), api.start.end(), gap.end);
    rank.calls_in_gaps.emplace_back(highest,
                                    lowest[static_cast<std::size_t>(after - api.start.begin())]);
  }
}

}  // namespace traceinject
