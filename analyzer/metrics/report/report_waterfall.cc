// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "analyzer/metrics/report/device_waterfall.h"
#include "analyzer/metrics/report/report_writer.h"

namespace traceinject {
namespace {

// Of judged steps, or of windows.
std::int64_t CountOf(const std::deque<DeviceFigures>& devices) {
  std::int64_t count = 0;
  for (const DeviceFigures& found : devices) {
    const bool is_of_steps = found.times == found.steps.judged_times();
    count += is_of_steps ? static_cast<std::int64_t>(found.steps.count_judged()) : 1;
  }
  return std::max<std::int64_t>(1, count);
}

std::string TitleOf(const WaterfallBar& bar) {
  std::string title(WaterfallPartTitle(bar.part));
  if (bar.cause) title.append(": ").append(IdleCauseName(*bar.cause));
  return title;
}

}  // namespace

void ReportWriter::WaterfallOfRun(const std::deque<DeviceFigures>& devices,
                                  proto::Waterfall& to) const {
  std::vector<Waterfall> each;
  for (const DeviceFigures& found : devices) each.push_back(WaterfallOf(found));
  const Waterfall sum = SumOfWaterfalls(each);
  to.set_reason(sum.reason);
  if (sum.bars.empty()) return;
  const std::int64_t steps = CountOf(devices);
  to.set_step_ns(sum.wall_ns / steps);
  to.set_full_square_percent(100 * static_cast<double>(sum.full_square_ns) /
                             static_cast<double>(sum.wall_ns));
  for (const WaterfallBar& bar : sum.bars) {
    proto::WaterfallBar& one = *to.add_bars();
    one.set_part(std::string(WaterfallPartName(bar.part)));
    one.set_title(TitleOf(bar));
    one.set_percent(bar.tenths / 10.0);
    one.set_ns(bar.ns / steps);
    for (const WaterfallItem& item : bar.items) {
      proto::WaterfallItem& of = *one.add_items();
      of.set_name(item.name);
      of.set_ns(item.ns / steps);
    }
  }
}

}  // namespace traceinject
