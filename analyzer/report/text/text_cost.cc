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
          ? fmt::format("{}our code on the program's threads took about {}, {} of {} recorded ({}; "
                        "from {}). What CUPTI does at launches and our hooks in Python are not in "
                        "it",
                        prefix, FormatTime(cost.own_ns()),
                        FormatShare(cost.own_ns(), cost.recorded_ns(), 3),
                        FormatTime(cost.recorded_ns()), parts, Plural(cost.samples(), "sample"))
          : prefix + "our code on the program's threads: unknown, too few events for a sample");
}

void WriteBeside(TextReport& to, const proto::RecordingCost& cost) {
  const auto of_core = [&](std::int64_t cpu_ns) {
    return fmt::format("{} of processor time ({} of a core)", FormatTime(cpu_ns),
                       FormatShare(cpu_ns, cost.recorded_ns(), 1));
  };
  std::string text = "beside them: the writer took " + of_core(cost.writer_cpu_ns());
  if (cost.has_sampler_cpu_ns()) text += ", the sampler " + of_core(cost.sampler_cpu_ns());
  if (cost.has_file_bytes())
    text += fmt::format("; the file has {}, {}", FormatBytes(cost.file_bytes()),
                        FormatRate(cost.file_bytes(), cost.recorded_ns()));
  to.page.Sentence(text);
}

void WriteAb(TextReport& to, const proto::RecordingCost& cost) {
  if (!cost.ab_reason().empty())
    return to.page.Sentence("what recording adds to a step: unknown, " + cost.ab_reason());
  if (!cost.has_ab()) return;
  const proto::AbSteps& ab = cost.ab();
  to.page.Sentence(
      fmt::format("recording adds {} to a step (95 % interval {} to {}), {} of {}: {} of "
                  "unrecorded steps, each "
                  "against the recorded ones around it",
                  FormatTime(ab.added_ns()), FormatTime(ab.added_low_ns()),
                  FormatTime(ab.added_high_ns()), FormatShare(ab.added_ns(), ab.unrecorded_ns(), 2),
                  FormatTime(ab.unrecorded_ns()), Plural(ab.blocks(), "block")));
  if (to.report.verdict().resident_ns() > 0)
    to.page.Sentence(fmt::format(
        "CUPTI stays in the process meanwhile, which is in both: about {} more a step than without "
        "the library, as estimated",
        FormatTime(to.report.verdict().resident_ns())));
  if (!ab.conclusion().empty()) to.page.Sentence(ab.conclusion());
}

}  // namespace

void WriteRecordingCosts(TextReport& to) {
  if (to.report.recording_costs().empty()) return;
  to.page.Heading("What recording cost");
  for (const proto::RecordingCost& cost : to.report.recording_costs()) {
    WriteOwn(to, cost, SourcePrefix(to.report, cost.source()));
    WriteBeside(to, cost);
    WriteAb(to, cost);
  }
}

}  // namespace traceinject
