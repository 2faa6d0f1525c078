// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/excerpt/thin_lane.h"

namespace traceinject {
namespace {

ThinSpan SpanOf(const Lane& lane, std::size_t event) {
  ThinSpan span;
  span.start = lane.start(event);
  span.end = lane.end(event);
  span.busy = span.end - span.start;
  span.count = 1;
  span.event = static_cast<std::uint32_t>(event);
  const Category category = CategoryOf(lane.ink(event));
  if (category != Category::kHost) span.mix[static_cast<std::size_t>(category)] = span.busy;
  return span;
}

// `longest_ns`: of the events in `span` so far.
void Append(const ThinSpan& next, ThinSpan& span, TimeNs& longest_ns) {
  if (next.busy > longest_ns) {
    longest_ns = next.busy;
    span.event = next.event;
  }
  span.end = next.end;
  span.busy += next.busy;
  span.count += next.count;
  for (std::size_t i = 0; i < kCategories; ++i) span.mix[i] += next.mix[i];
}

}  // namespace

std::vector<ThinSpan> ThinLane(const Lane& lane, Interval time, TimeNs cell_ns) {
  std::vector<ThinSpan> spans;
  TimeNs open_cell = -1, longest_ns = 0;  // of the last span; -1: nothing may join it
  for (std::size_t event = lane.FirstEndingAfter(time.start); event < lane.size(); ++event) {
    if (lane.start(event) >= time.end) break;
    const ThinSpan span = SpanOf(lane, event);
    const bool is_short = span.busy < cell_ns && span.start >= time.start && span.end <= time.end;
    const TimeNs cell = is_short ? (span.start - time.start) / cell_ns : -1;
    if (is_short && cell == open_cell) {
      Append(span, spans.back(), longest_ns);
    } else {
      spans.push_back(span);
      longest_ns = span.busy;
    }
    open_cell = cell;
  }
  return spans;
}

}  // namespace traceinject
