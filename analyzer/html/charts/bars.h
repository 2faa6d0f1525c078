// SPDX-License-Identifier: Apache-2.0
// Bars beside figures: what stands in words next to them, drawn.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/html/charts/chart.h"
#include "analyzer/html/page/markup.h"

namespace traceinject {

// A small bar, filled up to `share`. Readers who do not see it have the figure beside it.
void WriteMeter(Markup& out, double share);

struct BarPart {
  std::string mark;  // class of the style sheet
  std::string text;  // "compute"
  double amount = 0;
  std::string shown;  // the amount with its unit
};

struct Bar {
  std::string label;
  std::string total;  // at its end: "73.07 ms"
  std::vector<BarPart> parts;
  double from = 0;  // where they begin
};

// One line a bar, all on one scale that ends with the longest. `text`: with the legend.
void WriteBars(Markup& out, const ChartText& text, std::span<const Bar> bars);

struct IntervalBar {
  std::string label;
  std::string mark;  // class of the style sheet
  double amount = 0, low = 0, high = 0;
  std::string shown;
};

// Likewise, one amount a bar with the interval that it lies in.
void WriteIntervalBars(Markup& out, const ChartText& text, std::span<const IntervalBar> bars);

}  // namespace traceinject
