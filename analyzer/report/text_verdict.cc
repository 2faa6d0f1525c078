// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/common/units.h"
#include "analyzer/report/text_notation.h"
#include "analyzer/report/text_sections.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

std::string CheckText(const proto::ReplayCheck& check) {
  return fmt::format(
      "checked: each half of {} steps foretold from the other to {} (worst step {}); {} "
      "unexplained",
      check.steps(), Percent(check.error()), Percent(check.worst_step_error()),
      Percent(check.residual_share()));
}

}  // namespace

// "dataloader: a step would take 125.2 ms instead of 177.6 ms, saving ...".
void WriteVerdict(TextReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  if (verdict.label().empty()) return;
  to.page.Line(to.page.Colored("verdict: " + LabelOn(verdict), 1));
  const std::int64_t unrecorded_ns = verdict.step_ns() - verdict.recording_ns();
  if (verdict.has_saved_ns()) {
    to.page.Sentence(fmt::format(
        "without it a {} takes {} instead of {}: saves {} (95 % interval {} to {}), {}",
        verdict.steps() > 0 ? "step" : "window like this", FormatTime(verdict.new_step_ns()),
        FormatTime(unrecorded_ns), FormatTime(verdict.saved_ns()),
        FormatTime(verdict.saved_low_ns()), FormatTime(verdict.saved_high_ns()),
        FormatShare(verdict.saved_ns(), unrecorded_ns)));
    if (verdict.recording_ns() * 100 >= verdict.step_ns())
      to.page.Sentence(
          fmt::format("as recorded it takes {}: recording adds about {}, a little at every launch",
                      FormatTime(verdict.step_ns()), FormatTime(verdict.recording_ns())));
  } else if (verdict.abstained().empty()) {
    to.page.Sentence(fmt::format("nothing but faster kernels would save 5 % of the step of {}",
                                 FormatTime(verdict.step_ns())));
  } else {
    to.page.Sentence("no verdict: " + verdict.abstained());
  }
  if (verdict.abstained().empty()) {
    std::string text = fmt::format("confidence {:.2f}", verdict.confidence());
    if (verdict.has_saved_ns() && verdict.has_runner_up())
      text += fmt::format("; next {} with {}, margin {} of the step", LabelOn(verdict.runner_up()),
                          FormatTime(verdict.runner_up().saved_ns()), Percent(verdict.margin()));
    to.page.Sentence(text);
    if (verdict.has_replay_check()) to.page.Sentence(CheckText(verdict.replay_check()));
  }
  if (const std::string fixes = FixOrderText(verdict); !fixes.empty())
    to.page.Sentence("fix order: " + fixes);
  for (const std::string& sentence : verdict.interactions()) to.page.Sentence(sentence);
  for (const std::string& caveat : verdict.caveats()) to.page.Sentence("but: " + caveat);
  if (verdict.evidence_size() > 0) to.page.Line(fmt::format("  evidence ({}):", verdict.device()));
  for (const proto::Evidence& evidence : verdict.evidence())
    to.page.Sentence("- " + evidence.text(), 4);
  if (verdict.levers_size() > 0) to.page.Line("  what to change:");
  for (const proto::Lever& lever : verdict.levers()) {
    to.page.Sentence(
        "- " + SettingText(lever) + (lever.change().empty() ? "" : ": " + lever.change()), 4);
    if (!lever.source().empty()) to.page.Sentence("[" + lever.source() + "]", 8);
  }
  to.page.Line("");
}

}  // namespace traceinject
