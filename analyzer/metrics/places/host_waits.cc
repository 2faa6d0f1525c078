// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/host_waits.h"

#include <algorithm>
#include <array>

#include "analyzer/metrics/places/seen_code.h"

namespace traceinject {
namespace {

constexpr double kMostlyImports = 0.5;

bool StartsWorkers(const Rank& rank, Interval time) {
  return std::any_of(rank.workers.begin(), rank.workers.end(), [&](const Worker& worker) {
    return worker.start >= time.start && worker.start < time.end;
  });
}

}  // namespace

std::string_view HostWaitReasonName(HostWaitReason reason) {
  static constexpr std::array<std::string_view, kHostWaitReasons> kNames = {"data workers starting",
                                                                            "imports", "unknown"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::vector<HostWait> ExplainHostWaits(const DeviceAnalysis& judged) {
  const auto waits = [](const StepSplit& split) { return split.idle(IdleCause::kHostWait) > 0; };
  if (std::none_of(judged.causes.steps.begin(), judged.causes.steps.end(), waits)) return {};
  const Rank& rank = *judged.rank;
  const SeenCode seen(rank, judged.timeline.feeders);
  const std::vector<TimeNs> cuts = judged.steps.cuts();
  std::array<Intervals, kHostWaitReasons> times;
  for (const IdlePiece& piece : ExplainIdle(rank, *judged.device, judged.timeline, judged.steps,
                                            {cuts.front(), cuts.back()})) {
    if (piece.cause != IdleCause::kHostWait) continue;
    const HostWaitReason reason = StartsWorkers(rank, piece.time) ? HostWaitReason::kWorkersStarting
                                  : seen.ImportingShare(piece.time) >= kMostlyImports
                                      ? HostWaitReason::kImports
                                      : HostWaitReason::kUnknown;
    Append(times[static_cast<std::size_t>(reason)], piece.time);
  }
  std::vector<HostWait> found;
  for (std::size_t i = 0; i < kHostWaitReasons; ++i) {
    if (times[i].empty()) continue;
    found.push_back({static_cast<HostWaitReason>(i), Length(times[i]), seen.MostIn(times[i])});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const HostWait& a, const HostWait& b) { return a.ns > b.ns; });
  return found;
}

}  // namespace traceinject
