// SPDX-License-Identifier: Apache-2.0
// What a page shows of the timeline: a few steps of one rank, with the rows, the names, the colors,
// the order, and the heights that traceview has at first. It stands for itself: the run may go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/model/counter_series.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/view/excerpt/chosen_steps.h"
#include "analyzer/view/excerpt/thin_lane.h"
#include "analyzer/view/rows/rows.h"
#include "analyzer/view/style/palette.h"

namespace traceinject {

struct ExcerptSpan {
  ThinSpan time;
  std::uint32_t look = 0;  // index into Excerpt::looks
  TimeNs wait = 0;         // of a collective: from its start until the last rank had come
};

struct ExcerptRow {
  std::string label, note;
  bool heading = false;      // nothing in it but its rows
  bool by_category = false;  // spans are stacked: computing, communicating, copying
  int depth = 0;             // groups around it
  float top_px = 0, lane_top_px = 0, lane_px = 0, bottom_px = 0;
  std::vector<std::vector<ExcerptSpan>> lanes;
  std::vector<CounterSpan> counter;  // instead of lanes
  std::int32_t most = 0;             // of the counter in all of the run
};

// A name and a color that go together.
struct ExcerptLook {
  std::string name;
  std::uint32_t color = 0;  // index into Excerpt::colors
};

struct ExcerptColor {
  Rgba color = 0;
  std::string text;  // of the legend
};

// Where a line of evidence shows best.
struct ExcerptPlace {
  Interval time;
  std::uint32_t row = 0;  // index into Excerpt::rows
};

struct Excerpt {
  std::string rank;  // as its heading has it
  ChosenSteps chosen;
  TimeNs origin = 0;   // 0 on the ruler
  TimeNs cell_ns = 0;  // what is shorter was merged
  std::vector<ExcerptRow> rows;
  std::vector<ExcerptLook> looks;
  std::vector<ExcerptColor> colors;                 // in the order of the legend
  std::array<Rgba, kCategories> categories = {};    // of rows by category
  std::vector<RowGap> gaps;                         // that show in it
  std::vector<std::optional<ExcerptPlace>> places;  // of each line of evidence
  std::size_t events = 0, spans = 0;                // that are in it, and what they became
  std::size_t merged = 0, merged_into = 0;  // events that are not told apart, and their spans
  std::size_t rows_left_out = 0, lanes_left_out = 0;

  bool empty() const { return rows.empty(); }
};

// With at most so many spans, but for one a lane and long events; with fewer until it fits into
// what it is for. Empty where the run has no steps and no window. O(events of the rank + events
// inside x log).
Excerpt MakeExcerpt(const Run& run, const JudgedReport& found, std::size_t max_spans,
                    const std::function<bool(const Excerpt&)>& fits);

// What is on top of that and below it never shows: a page must not grow with a run.
inline constexpr std::size_t kMaxExcerptRows = 60, kMaxExcerptLanes = 24;  // lanes of a row

}  // namespace traceinject
