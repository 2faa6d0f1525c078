// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/waterfall_items.h"
#include "analyzer/report/text/judged_step.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

constexpr std::size_t kStepDownWidth = 25;

// What is left above it and below it is blank: bars step down from the right to the left.
std::string StepDownText(double from_percent, double to_percent) {
  const auto column = [](double percent) {
    return static_cast<std::size_t>(std::lround(percent / 100 * kStepDownWidth));
  };
  const std::size_t from = column(from_percent);
  const std::size_t to = std::max(column(to_percent), from + (from < kStepDownWidth ? 1 : 0));
  return std::string(from, ' ') + std::string(to - from, '#') +
         std::string(kStepDownWidth - to, ' ');
}

}  // namespace

void WriteWaterfall(TextReport& to) {
  const proto::DeviceReport* const device = JudgedDevice(to.report);
  if (device == nullptr || !device->has_waterfall()) return;
  const proto::Waterfall& waterfall = device->waterfall();
  to.page.Heading("From the published peak to what is achieved" +
                  (to.report.devices_size() > 1 ? ", " + device->label() : std::string()));
  if (waterfall.bars().empty()) return to.page.Sentence("unknown: " + waterfall.reason());
  TextRows rows = {{"part", "of the step", "time", ""}};
  double above = 100;
  for (const proto::WaterfallBar& bar : waterfall.bars()) {
    const double below = std::max(0.0, above - bar.percent());
    // What rounds to nothing adds nothing to the sum either.
    if (bar.percent() > 0)
      rows.push_back({bar.title(), fmt::format("{:.1f} %", bar.percent()), FormatTime(bar.ns()),
                      StepDownText(below, above)});
    above = below;
  }
  rows.push_back({"sum", "100.0 %", FormatTime(waterfall.step_ns()), ""});
  to.page.Table(rows, 1, 2);
  for (const proto::WaterfallBar& bar : waterfall.bars()) {
    if (bar.percent() > 0 && bar.items_size() > 0)
      to.page.Sentence(bar.title() + ": " + WaterfallItemsText(bar));
  }
  if (waterfall.full_square_percent() >= 0.05)
    to.page.Sentence(fmt::format(
        "HFU counts attention with a causal mask in full: {:.1f} % more than is computed here",
        waterfall.full_square_percent()));
}

}  // namespace traceinject
