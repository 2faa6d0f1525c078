// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

constexpr std::size_t kGapRows = 20;

// What idle time went on in a mean step, the largest first.
void WriteCauses(const HtmlReport& to, const proto::DeviceSteps& steps) {
  const proto::StepSplit& sum = steps.judged_sum();
  const std::int64_t count = std::max<std::int64_t>(1, steps.judged());
  std::vector<proto::IdlePart> parts(sum.idle().begin(), sum.idle().end());
  std::stable_sort(
      parts.begin(), parts.end(),
      [](const proto::IdlePart& a, const proto::IdlePart& b) { return a.ns() > b.ns(); });
  std::vector<Bar> bars;
  for (const proto::IdlePart& part : parts) {
    const std::string shown = fmt::format("{} ({})", FormatTime(part.ns() / count),
                                          FormatShare(part.ns(), sum.length_ns()));
    bars.push_back(
        {part.cause(),
         shown,
         {{MarkOf("idle: " + part.cause()), part.cause(), static_cast<double>(part.ns()), shown}}});
  }
  WriteBars(to.out, {"Idle time of a mean step of " + steps.label() + ", by cause", ""}, bars);
}

bool HasIdle(const HtmlReport& to) { return !to.report.devices().empty(); }

void WriteIdle(const HtmlReport& to) {
  if (const proto::DeviceSteps* steps = JudgedSteps(to.report)) WriteCauses(to, *steps);
  {
    Reused reused(to);
    WriteIdleCauses(reused.text(), to.report.run().idle_causes(),
                    to.report.run().partition().idle_ns(), kAnySource);
    for (const proto::DeviceReport& device : to.report.devices())
      WriteCaptureGaps(reused.text(), device);
  }
  Table gaps = GapTable(to.report);
  const auto length = FindColumn(gaps.columns, "duration_ns");
  if (length) SortTable(gaps, *length, false);
  to.out.Leaf("h3", "Longest idle gaps");
  WriteHtmlTable(to.out, gaps,
                 {.caption = "The longest times when nothing ran on a GPU",
                  .rows = kGapRows,
                  .where_all = "analyze gaps shows all",
                  .order = "duration_ns"});
}

}  // namespace

const HtmlSection kIdleSection = {"idle", "Why the GPU was idle", HasIdle, WriteIdle};

}  // namespace traceinject
