// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

void WriteOwn(TextReport& to, const proto::RecordingCost& cost, const std::string& prefix) {
  std::string parts;
  for (const proto::OwnCost& one : cost.own())
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", one.source(), FormatTime(one.ns()));
  to.page.Sentence(
      cost.has_own_ns()
          ? fmt::format(
                "{}traceinject's code on the program's threads took about {}, {} of {} recorded "
                "({}; from {}), not counting CUPTI's work at launches and the Python hooks",
                prefix, FormatTime(cost.own_ns()),
                FormatShare(cost.own_ns(), cost.recorded_ns(), 3), FormatTime(cost.recorded_ns()),
                parts, Plural(cost.samples(), "sample"))
          : prefix +
                "traceinject's code on the program's threads: unknown, too few events to sample");
}

void WriteBeside(TextReport& to, const proto::RecordingCost& cost) {
  const auto of_core = [&](std::int64_t cpu_ns) {
    return fmt::format("{} of CPU time ({} of a core)", FormatTime(cpu_ns),
                       FormatShare(cpu_ns, cost.recorded_ns(), 1));
  };
  std::string text = "background threads: the writer took " + of_core(cost.writer_cpu_ns());
  if (cost.has_sampler_cpu_ns()) text += ", the sampler " + of_core(cost.sampler_cpu_ns());
  if (cost.has_file_bytes())
    text += fmt::format("; the file size is {}, {}", FormatBytes(cost.file_bytes()),
                        FormatRate(cost.file_bytes(), cost.recorded_ns()));
  to.page.Sentence(text);
}

void WriteAb(TextReport& to, const proto::RecordingCost& cost) {
  if (!cost.ab_reason().empty())
    return to.page.Sentence("overhead per step: unknown, " + cost.ab_reason());
  if (!cost.has_ab()) return;
  const proto::AbSteps& ab = cost.ab();
  to.page.Sentence(
      fmt::format("overhead per step: {} (95 % interval {} to {}), {} of {}: {} of unrecorded "
                  "steps, each compared with the recorded ones around it",
                  FormatTime(ab.added_ns()), FormatTime(ab.added_low_ns()),
                  FormatTime(ab.added_high_ns()), FormatShare(ab.added_ns(), ab.unrecorded_ns(), 2),
                  FormatTime(ab.unrecorded_ns()), Plural(ab.blocks(), "block")));
  if (to.report.verdict().resident_ns() > 0)
    to.page.Sentence(fmt::format(
        "CUPTI stays loaded in both cases: an estimated {} more per step than without the library",
        FormatTime(to.report.verdict().resident_ns())));
  if (!ab.conclusion().empty()) to.page.Sentence(ab.conclusion());
}

}  // namespace

void WriteRecordingCosts(TextReport& to) {
  if (to.report.recording_costs().empty()) return;
  to.page.Heading("Recording overhead");
  for (const proto::RecordingCost& cost : to.report.recording_costs()) {
    WriteOwn(to, cost, SourcePrefix(to.report, cost.source()));
    WriteBeside(to, cost);
    WriteAb(to, cost);
  }
}

}  // namespace traceinject
