// SPDX-License-Identifier: Apache-2.0
// Which part of time is on screen: time <-> pixel, zoom, pan.
//
// Units and convention: int64 nanoseconds, the visible range is half-open [start_ns, end_ns).
// Pixels are float, 0 at the left edge of the plot, and only ever made from a time relative to
// start_ns: a float holds 24 bits, a day in nanoseconds needs 47.
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

class TimelineView {
 public:
  // The shortest visible range: below it a pixel is a fraction of the clock's own step.
  static constexpr TimeNs kMinSpanNs = 100;

  TimelineView() : TimelineView(0, kMinSpanNs) {}
  // Shows all of [first_ns, last_ns), the time there is something to see.
  TimelineView(TimeNs first_ns, TimeNs last_ns);

  TimeNs start_ns() const { return start_ns_; }
  TimeNs end_ns() const { return start_ns_ + span_ns_; }
  TimeNs span_ns() const { return span_ns_; }
  float width_px() const { return width_px_; }
  double ns_per_px() const { return static_cast<double>(span_ns_) / width_px_; }

  // Keeps the visible range. At least 1.
  void SetWidth(float width_px);

  // Clamped to a million pixels beyond either edge, which every renderer can take.
  float X(TimeNs time_ns) const;
  // Inverse of X, rounded down to a nanosecond.
  TimeNs TimeAt(float x_px) const;

  // `factor` < 1 shows less time. The time under x_px stays there, but for the limits and the
  // rounding to nanoseconds.
  void ZoomAt(float x_px, double factor);
  // Positive: to later times.
  void Pan(double pixels);
  // Makes [start_ns, end_ns) visible, as far as the limits allow.
  void Show(TimeNs start_ns, TimeNs end_ns);
  // Like Show with some room on both sides.
  void Fit(TimeNs start_ns, TimeNs end_ns);
  void ShowAll();

 private:
  // Cuts the range to the limits: not shorter than kMinSpanNs, not outside of the run and a margin.
  void Set(double start_ns, double span_ns, TimeNs reference_ns);

  TimeNs first_ns_, last_ns_;  // the limits, margins included
  TimeNs start_ns_ = 0, span_ns_ = kMinSpanNs;
  float width_px_ = 1;
};

}  // namespace traceinject
