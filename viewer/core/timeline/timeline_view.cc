// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/timeline_view.h"

#include <algorithm>
#include <cmath>

namespace traceinject {
namespace {

constexpr double kFarPx = 1e6;
constexpr double kMargin = 0.02;  // of the run, left free on either side

}  // namespace

TimelineView::TimelineView(TimeNs first_ns, TimeNs last_ns) {
  const TimeNs span = std::max(last_ns - first_ns, kMinSpanNs);
  const auto margin = static_cast<TimeNs>(static_cast<double>(span) * kMargin);
  first_ns_ = first_ns - margin;
  last_ns_ = first_ns + span + margin;
  ShowAll();
}

void TimelineView::SetWidth(float width_px) { width_px_ = std::max(width_px, 1.0F); }

float TimelineView::X(TimeNs time_ns) const {
  const double x = static_cast<double>(time_ns - start_ns_) / ns_per_px();
  return static_cast<float>(std::clamp(x, -kFarPx, kFarPx));
}

TimeNs TimelineView::TimeAt(float x_px) const {
  return start_ns_ + static_cast<TimeNs>(std::floor(static_cast<double>(x_px) * ns_per_px()));
}

// `start_ns` is relative to `reference_ns`, so that doubles stay exact where the view is narrow.
void TimelineView::Set(double start_ns, double span_ns, TimeNs reference_ns) {
  const auto longest = static_cast<double>(last_ns_ - first_ns_);
  span_ns_ = static_cast<TimeNs>(
      std::llround(std::clamp(span_ns, static_cast<double>(kMinSpanNs), longest)));
  const auto lowest = static_cast<double>(first_ns_ - reference_ns);
  const auto highest = static_cast<double>(last_ns_ - span_ns_ - reference_ns);
  start_ns_ =
      reference_ns + static_cast<TimeNs>(std::llround(std::clamp(start_ns, lowest, highest)));
}

void TimelineView::ZoomAt(float x_px, double factor) {
  const auto longest = static_cast<double>(last_ns_ - first_ns_);
  const double span =
      std::clamp(static_cast<double>(span_ns_) * factor, static_cast<double>(kMinSpanNs), longest);
  const double share = static_cast<double>(x_px) / width_px_;
  Set(share * (static_cast<double>(span_ns_) - span), span, start_ns_);
}

void TimelineView::Pan(double pixels) {
  Set(pixels * ns_per_px(), static_cast<double>(span_ns_), start_ns_);
}

void TimelineView::Show(TimeNs start_ns, TimeNs end_ns) {
  Set(0, static_cast<double>(end_ns - start_ns), start_ns);
}

void TimelineView::Fit(TimeNs start_ns, TimeNs end_ns) {
  // A third of the screen: enough of what is before and after to see the event's place.
  const double span =
      std::max(static_cast<double>(end_ns - start_ns), static_cast<double>(kMinSpanNs) / 3);
  Set(-span, 3 * span, start_ns);
}

void TimelineView::ShowAll() {
  start_ns_ = first_ns_;
  span_ns_ = last_ns_ - first_ns_;
}

}  // namespace traceinject
