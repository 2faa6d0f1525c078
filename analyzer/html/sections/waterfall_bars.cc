// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/waterfall_items.h"

namespace traceinject {
namespace {

std::string MarkOfPart(const proto::WaterfallBar& bar) {
  if (bar.part() == "achieved") return "compute";
  if (bar.part() == "idle" || bar.part().starts_with("exposed_")) return MarkOf(bar.title());
  return "other";
}

std::string TipOf(const proto::WaterfallBar& bar) {
  const std::string items = WaterfallItemsText(bar);
  return items.empty() ? bar.title() : bar.title() + ", most of it " + items;
}

}  // namespace

void WriteWaterfallBars(const HtmlReport& to) {
  const proto::DeviceReport* const device = JudgedDevice(to.report);
  if (device == nullptr) return;
  const proto::Waterfall& waterfall = device->waterfall();
  std::vector<Bar> bars;
  double above = 100;
  for (const proto::WaterfallBar& part : waterfall.bars()) {
    if (part.percent() <= 0) continue;
    const std::string shown = fmt::format("{:.1f} %, {}", part.percent(), FormatTime(part.ns()));
    above = std::max(0.0, above - part.percent());
    bars.push_back(
        {part.title(), shown, {{MarkOfPart(part), TipOf(part), part.percent(), shown}}, above});
  }
  WriteBars(to.out,
            {fmt::format("From the published peak to what {} achieves, of the mean step of {}",
                         device->label(), FormatTime(waterfall.step_ns())),
             ""},
            bars);
}

}  // namespace traceinject
