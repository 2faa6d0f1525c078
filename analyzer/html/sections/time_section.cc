// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxBars = 64;

// A part of the mean of so many steps; their sum is in the message.
BarPart PartOf(const std::string& name, std::int64_t sum_ns, std::int64_t steps) {
  return {MarkOf(name), name, static_cast<double>(sum_ns) / static_cast<double>(steps),
          FormatTime(sum_ns / steps)};
}

Bar MeanStep(const proto::DeviceSteps& steps) {
  const proto::StepSplit& sum = steps.judged_sum();
  const std::int64_t count = std::max<std::int64_t>(1, steps.judged());
  Bar bar{steps.label(), FormatTime(sum.length_ns() / count), {}};
  const auto add = [&](const std::string& name, std::int64_t ns) {
    if (ns > 0) bar.parts.push_back(PartOf(name, ns, count));
  };
  add("compute", sum.compute_ns());
  add("exposed communication", sum.exposed_communication_ns());
  add("exposed copies", sum.exposed_copy_ns());
  for (const proto::IdlePart& part : sum.idle()) add("idle: " + part.cause(), part.ns());
  if (sum.idle().empty()) add("idle", sum.idle_ns());
  add("not recorded", sum.unrecorded_ns());
  return bar;
}

// In the order in which parts are drawn, each once.
std::vector<ChartKey> LegendOf(const std::vector<Bar>& bars) {
  std::vector<ChartKey> legend;
  std::set<std::string> known;
  for (const Bar& bar : bars) {
    double sum = 0;
    for (const BarPart& part : bar.parts) sum += part.amount;
    for (const BarPart& part : bar.parts) {
      if (IsSeen(part.amount, sum) && known.insert(part.mark).second)
        legend.push_back({part.mark, part.text});
    }
  }
  return legend;
}

// The first ones, and the one that is judged among them.
template <typename Messages, typename ToBar>
void WriteDeviceBars(const HtmlReport& to, const std::string& title, const Messages& of,
                     ToBar to_bar) {
  std::vector<Bar> bars;
  std::size_t left = 0;
  for (const auto& one : of) {
    if (bars.size() >= kMaxBars && one.label() != to.report.verdict().device()) {
      ++left;
      continue;
    }
    Bar bar = to_bar(one);
    if (!bar.parts.empty()) bars.push_back(std::move(bar));
  }
  WriteBars(to.out, {title, "", LegendOf(bars)}, bars);
  if (left > 0)
    to.out.Leaf("p",
                fmt::format("{} more GPUs are not shown; analyze steps shows all",
                            FormatCount(static_cast<std::int64_t>(left))),
                {{"class", "note"}});
}

bool HasTime(const HtmlReport& to) { return !to.report.devices().empty(); }

void WriteTime(const HtmlReport& to) {
  if (to.has_several()) WriteDeviceBars(to, "Mean step of each GPU", to.report.steps(), MeanStep);
  Reused reused(to);
  TextReport& text = reused.text();
  if (FindWithheld(text, "partition", kAnySource) == nullptr)
    WriteRatios(text, to.report.run().partition());
  else
    WriteTime(text);
  if (!to.has_several()) return;
  WriteDevices(text);
  if (FindWithheld(text, "partition", kAnySource) == nullptr) WriteSpreads(text);
}

}  // namespace

void WriteMeanStep(const HtmlReport& to) {
  const proto::DeviceSteps* const steps = JudgedSteps(to.report);
  if (steps == nullptr) return;
  const Bar bar = MeanStep(*steps);
  WriteBars(to.out, {MeanStepTitle(to.report, *steps), "", LegendOf({bar})}, std::vector{bar});
  if (!to.report.scope().outside().empty())
    to.out.Leaf("p", "Outside of these steps: " + to.report.scope().outside(), {{"class", "note"}});
}

const HtmlSection kTimeSection = {"time", "Where the time went", HasTime, WriteTime};

}  // namespace traceinject
