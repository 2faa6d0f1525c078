// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/host_events.h"

#include <algorithm>

namespace traceinject {

HostEvents::HostEvents(const Rank& rank) : rank_(rank), from_ranges_(!rank.imported_from.empty()) {}

bool HostEvents::Peek(std::size_t kind, HostEvent& event) const {
  event.kind = static_cast<HostEventKind>(kind);
  event.row = at_[kind];
  event.instant = false;
  const auto take = [&](const auto& table) {
    if (event.row >= table.size()) return false;
    event.thread = table.thread[event.row];
    if constexpr (requires { table.start; }) {
      event.start = table.start[event.row];
      event.end = table.end[event.row];
      if (event.end == kOpen) event.end = std::max(event.start, rank_.end);
    } else {
      event.start = event.end = table.time[event.row];
      event.instant = true;
    }
    return true;
  };
  switch (event.kind) {
    case HostEventKind::kNvtx:
      if (!take(rank_.nvtx)) return false;
      event.instant = rank_.nvtx.kind[event.row] == NvtxKind::kMark;
      return true;
    case HostEventKind::kProfiled:
      return take(rank_.profiled);
    case HostEventKind::kDataWait:
      return !from_ranges_ && take(rank_.data_waits);
    case HostEventKind::kHostSpan:
      return take(rank_.host_spans);
    case HostEventKind::kStepMark:
      return !from_ranges_ && take(rank_.step_marks);
    case HostEventKind::kCollective:
      return take(rank_.collectives);
    case HostEventKind::kAttention:
      return take(rank_.attentions);
    case HostEventKind::kGemm:
      return take(rank_.gemms);
    case HostEventKind::kApi:
      return take(rank_.api);
    case HostEventKind::kCount:
      break;
  }
  return false;
}

void HostEvents::Gather() {
  HostEvent event;
  TimeNs first = kOpen;
  for (std::size_t kind = 0; kind < at_.size(); ++kind) {
    if (Peek(kind, event)) first = std::min(first, event.start);
  }
  for (std::size_t kind = 0; kind < at_.size(); ++kind) {
    while (Peek(kind, event) && event.start == first) {
      together_.push_back(event);
      ++at_[kind];
    }
  }
  std::reverse(together_.begin(), together_.end());
  std::stable_sort(together_.begin(), together_.end(),
                   [](const HostEvent& a, const HostEvent& b) { return a.end < b.end; });
}

bool HostEvents::Next(HostEvent& event) {
  if (together_.empty()) Gather();
  if (together_.empty()) return false;
  event = together_.back();
  together_.pop_back();
  return true;
}

}  // namespace traceinject
