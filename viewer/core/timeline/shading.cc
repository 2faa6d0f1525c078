// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/shading.h"

#include <algorithm>
#include <utility>

namespace traceinject {
namespace {

RowOwner OwnerOf(const DeviceAnalysis& judged) {
  return {static_cast<std::uint32_t>(judged.rank_index),
          static_cast<std::uint32_t>(judged.device - judged.rank->devices.data())};
}

}  // namespace

Shading::Shading(std::string label, Vanishing vanishing, const RowOwner& owner)
    : label_(std::move(label)), vanishing_(std::move(vanishing)), owner_(owner) {
  for (const Interval& time : vanishing_.times)
    before_.push_back(before_.back() + time.end - time.start);
}

TimeNs Shading::Before(TimeNs time) const {
  const Intervals& times = vanishing_.times;
  const auto after =
      std::lower_bound(times.begin(), times.end(), time,
                       [](const Interval& one, TimeNs moment) { return one.start < moment; });
  const auto count = static_cast<std::size_t>(after - times.begin());
  const TimeNs beyond = count == 0 ? 0 : std::max<TimeNs>(times[count - 1].end - time, 0);
  return before_[count] - beyond;
}

std::optional<Shading> ShadingOf(const ShadingRequest& request,
                                 const std::atomic<bool>& cancelled) {
  if (request.label.empty()) return Shading("", {});
  const DeviceAnalysis* judged = request.report->judged.get();
  if (judged == nullptr) return Shading(request.label, {});
  Shading found(request.label, FindVanishing(*judged, request.label), OwnerOf(*judged));
  if (cancelled) return std::nullopt;
  return found;
}

}  // namespace traceinject
