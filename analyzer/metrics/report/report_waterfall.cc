// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "analyzer/metrics/kernels/device_waterfall.h"
#include "analyzer/metrics/report/report_writer.h"

namespace traceinject {
namespace {

// Of judged steps; of a window 1.
std::int64_t CountOf(const DeviceFigures& found) {
  if (found.times != found.steps.judged_times()) return 1;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(found.steps.count_judged()));
}

std::string TitleOfBar(const WaterfallBar& bar) {
  std::string title(WaterfallPartTitle(bar.part));
  if (bar.cause) title.append(": ").append(IdleCauseName(*bar.cause));
  return title;
}

}  // namespace

void ReportWriter::WaterfallBlock(const DeviceFigures& found, proto::Waterfall& to) const {
  const Waterfall waterfall =
      WaterfallOfDevice(found, found.partition, found.compute, found.telemetry);
  to.set_reason(waterfall.reason);
  if (waterfall.bars.empty()) return;
  const std::int64_t steps = CountOf(found);
  to.set_step_ns(waterfall.wall_ns / steps);
  to.set_full_square_percent(100 * static_cast<double>(waterfall.full_square_ns) /
                             static_cast<double>(waterfall.wall_ns));
  for (const WaterfallBar& bar : waterfall.bars) {
    proto::WaterfallBar& one = *to.add_bars();
    one.set_part(std::string(WaterfallPartName(bar.part)));
    one.set_title(TitleOfBar(bar));
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
