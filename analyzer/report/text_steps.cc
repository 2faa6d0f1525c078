// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/report/text_notation.h"
#include "analyzer/report/text_sections.h"

namespace traceinject {

void WriteSteps(TextReport& to, const proto::DeviceSteps& steps) {
  const bool window = steps.pattern().empty() && steps.count() < 3;
  to.page.Heading(fmt::format("{} of {}", window ? "The window" : "A mean step", steps.label()));
  if (!steps.has_sum() && steps.median_ns() == 0)
    return to.page.Sentence("how long steps took is not given: see Trust");
  // The numbers tell which, where others were left out before them.
  const std::string which = steps.first() > 1 ? fmt::format("steps {} to {}", steps.first(),
                                                            steps.first() + steps.count() - 1)
                                              : Plural(steps.count(), "step");
  std::string text = fmt::format(
      "{} ({}{}): median {}, MAD {}; {} of warm-up left out, {} irregular", which, steps.source(),
      steps.pattern().empty() ? "" : " '" + steps.pattern() + "'", FormatTime(steps.median_ns()),
      FormatTime(steps.mad_ns()), FormatCount(steps.warm_up()), FormatCount(steps.irregular()));
  if (steps.irregular() > 0 && steps.has_regular_mean_ns())
    text += fmt::format(", mean of the others {}", FormatTime(steps.regular_mean_ns()));
  // Steps that the program told are certain enough to need no word.
  constexpr double kCertain = 0.99;
  if (steps.confidence() > 0 && steps.confidence() < kCertain)
    text += fmt::format("; confidence {}", Percent(steps.confidence()));
  to.page.Sentence(text);
  if (!steps.has_sum()) return to.page.Sentence("how they were spent is not given: see Trust");
  const proto::StepSplit& sum = steps.sum();
  const std::int64_t count = std::max<std::int64_t>(1, steps.count() - steps.warm_up());
  TextRows rows = {{"", "share", "time"}};
  const auto add = [&](std::string name, std::int64_t ns) {
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
}

void WriteSamples(TextReport& to) {
  const proto::Samples& all = to.report.run().samples();
  if (!all.has_per_step()) return;
  const auto text = [](const proto::Samples& samples) {
    return fmt::format("{:.6g} a step, {:.4g} a second", samples.per_step(), samples.per_second());
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
