// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/chakra/wait_targets.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace traceinject {

WaitTargets::WaitTargets(const Rank& rank, const ChakraOperations& operations)
    : rank_(rank), by_stream_(rank.streams.size()), by_thread_(rank.threads.size()) {
  for (std::size_t stream = 0; stream < by_stream_.size(); ++stream) {
    std::vector<std::pair<TimeNs, OpRef>> launched;
    for (const OpRef op : operations.by_stream()[stream]) {
      const std::uint32_t call = rank.devices[op.device].ops.launch[op.row];
      if (call != kNone) launched.emplace_back(rank.api.start[call], op);
    }
    std::stable_sort(launched.begin(), launched.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [time, op] : launched) {
      by_stream_[stream].time.push_back(time);
      by_stream_[stream].op.push_back(op);
    }
  }
  ReadSyncs();
}

OpRef WaitTargets::LastBefore(std::uint32_t stream, TimeNs time) const {
  const Launches& launches = by_stream_[stream];
  const auto after = std::lower_bound(launches.time.begin(), launches.time.end(), time);
  if (after == launches.time.begin()) return {};
  return launches.op[static_cast<std::size_t>(after - launches.time.begin()) - 1];
}

OpRef WaitTargets::FirstFrom(std::uint32_t stream, TimeNs time) const {
  const Launches& launches = by_stream_[stream];
  const auto first = std::lower_bound(launches.time.begin(), launches.time.end(), time);
  if (first == launches.time.end()) return {};
  return launches.op[static_cast<std::size_t>(first - launches.time.begin())];
}

// Rows are by start, so that what was recorded last stands for an event.
void WaitTargets::ReadSyncs() {
  const Syncs& syncs = rank_.syncs;
  std::unordered_map<std::uint32_t, OpRef> events;
  for (std::size_t row = 0; row < syncs.size(); ++row) {
    const std::uint32_t stream = syncs.stream[row];
    const auto event = events.find(syncs.event[row]);
    const OpRef recorded = event == events.end() ? OpRef() : event->second;
    switch (syncs.kind[row]) {
      case SyncKind::kEventRecord:
        if (stream != kNone) events[syncs.event[row]] = LastBefore(stream, syncs.start[row]);
        break;
      case SyncKind::kStreamWaitsEvent: {
        const OpRef next = stream == kNone ? OpRef() : FirstFrom(stream, syncs.start[row]);
        if (next.known() && recorded.known()) of_streams_.emplace_back(next, recorded);
        break;
      }
      case SyncKind::kHostWaitsEvent:
      case SyncKind::kHostWaitsStream: {
        const OpRef op = syncs.kind[row] == SyncKind::kHostWaitsEvent ? recorded
                         : stream == kNone                            ? OpRef()
                                           : LastBefore(stream, syncs.start[row]);
        if (op.known())
          by_thread_[syncs.thread[row]].push_back({{syncs.start[row], syncs.end[row]}, {op}});
        break;
      }
    }
  }
}

bool WaitTargets::WaitsForDevice(std::uint32_t call) const {
  const std::string& name = rank_.api_names[rank_.api.name[call]].name;
  return name.find("DeviceSynchronize") != std::string::npos ||
         name.find("CtxSynchronize") != std::string::npos;
}

std::vector<OpRef> WaitTargets::OfCall(std::uint32_t call) const {
  const Interval time{rank_.api.start[call], rank_.api.end[call]};
  // Of which device is known only where there is one.
  if (WaitsForDevice(call)) {
    std::vector<OpRef> last;
    if (rank_.devices.size() > 1) return last;
    for (std::uint32_t stream = 0; stream < by_stream_.size(); ++stream) {
      if (const OpRef op = LastBefore(stream, time.start); op.known()) last.push_back(op);
    }
    return last;
  }
  const auto& waits = by_thread_[rank_.api.thread[call]];
  const auto after =
      std::upper_bound(waits.begin(), waits.end(), time.end,
                       [](TimeNs end, const HostWait& wait) { return end < wait.time.start; });
  if (after == waits.begin()) return {};
  const HostWait& wait = *(after - 1);
  return wait.time.end >= time.start ? wait.ops : std::vector<OpRef>();
}

}  // namespace traceinject
