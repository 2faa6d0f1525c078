// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/judged_step.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

// "left out, 12.3 % of the time of all steps: 2 warm-up, 101.2 ms on average (...); ..."; empty:
// all steps are judged.
std::string LeftOut(const proto::DeviceSteps& steps) {
  std::string text;
  std::int64_t left_ns = 0;
  for (const proto::LeftOutSteps& left : steps.left_out()) {
    left_ns += left.total_ns();
    text += fmt::format("{}{} {}, {} {} ({})", text.empty() ? "" : "; ", FormatCount(left.count()),
                        left.kind(),
                        FormatTime(left.total_ns() / std::max<std::int64_t>(1, left.count())),
                        left.count() == 1 ? "long" : "on average", left.reason());
  }
  if (text.empty()) return text;
  const std::int64_t all_ns = left_ns + steps.judged_sum().length_ns();
  const std::string share = steps.has_judged_sum() ? fmt::format(", {} of the time of all steps",
                                                                 FormatShare(left_ns, all_ns))
                                                   : std::string();
  return fmt::format("left out{}: {}", share, text);
}

void WriteQueue(TextReport& to, const proto::DeviceSteps& steps) {
  if (!steps.has_queue()) return;
  const proto::LaunchQueue& queue = steps.queue();
  to.page.Sentence(fmt::format(
      "launch lead: operations start {} after their launch (median; 5 % within {}); {} are queued "
      "(median over time; for 5 % of it no more than {}), none for {} of the time",
      FormatTime(queue.slack_median_ns()), FormatTime(queue.slack_low_ns()),
      FormatCount(queue.depth_median()), FormatCount(queue.depth_low()),
      Percent(queue.empty_share())));
}

}  // namespace

void WriteSteps(TextReport& to, const proto::DeviceSteps& steps) {
  to.page.Heading(MeanStepTitle(to.report, steps));
  if (!steps.has_judged_sum() && steps.median_ns() == 0)
    return to.page.Sentence("step times withheld: see Trust");
  std::string text = fmt::format("{} ({}{})", Plural(steps.count(), "step"), steps.source(),
                                 steps.pattern().empty() ? "" : " '" + steps.pattern() + "'");
  if (steps.has_judged_median_ns())
    text += fmt::format("; median of the judged ones {}, median absolute deviation {}",
                        FormatTime(steps.judged_median_ns()), FormatTime(steps.mad_ns()));
  // Steps that the program told are certain enough to need no word.
  constexpr double kCertain = 0.99;
  if (steps.confidence() > 0 && steps.confidence() < kCertain)
    text += fmt::format("; confidence {}", Percent(steps.confidence()));
  to.page.Sentence(text);
  if (const std::string left = LeftOut(steps); !left.empty()) to.page.Sentence(left);
  if (!steps.has_judged_sum()) return to.page.Sentence("step split withheld: see Trust");
  const proto::StepSplit& sum = steps.judged_sum();
  const std::int64_t count = std::max<std::int64_t>(1, steps.judged());
  TextRows rows = {{"", "share", "time"}};
  const auto add = [&](std::string name, std::int64_t ns) {
    if (!IsShown(ns, sum.length_ns())) return;
    rows.push_back({std::move(name), FormatShare(ns, sum.length_ns()), FormatTime(ns / count)});
  };
  add("compute", sum.compute_ns());
  add("exposed communication", sum.exposed_communication_ns());
  add("exposed copies", sum.exposed_copy_ns());
  for (const proto::IdlePart& part : sum.idle()) add("idle: " + part.cause(), part.ns());
  if (sum.idle().empty() && sum.idle_ns() > 0) add("idle", sum.idle_ns());
  if (sum.has_unrecorded_ns()) add("not recorded", sum.unrecorded_ns());
  add("sum", sum.length_ns());
  to.page.Table(rows, 1, 2);
  WriteQueue(to, steps);
}

void WriteSamples(TextReport& to) {
  const proto::Samples& all = to.report.run().samples();
  if (!all.has_per_step()) return;
  const auto text = [](const proto::Samples& samples) {
    return fmt::format("{:.6g} per step, {:.4g} per second", samples.per_step(),
                       samples.per_second());
  };
  std::string by_rank;
  if (to.report.sources_size() > 1) {
    int source = -1;
    for (const proto::DeviceReport& device : to.report.devices()) {
      if (device.source() == source) continue;
      source = device.source();
      by_rank += fmt::format("{}{} {}", by_rank.empty() ? "; " : ", ",
                             SourceLabel(to.report, source), text(device.samples()));
    }
  }
  to.page.Sentence("samples: " + text(all) + by_rank);
}

}  // namespace traceinject
