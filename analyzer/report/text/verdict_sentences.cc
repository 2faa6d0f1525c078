// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/verdict_sentences.h"

#include <fmt/format.h>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
std::string VerdictTitle(const proto::Verdict& verdict) {
  return TitleOn(verdict) + (verdict.code().empty() ? "" : " at " + verdict.code(0).place());
}

std::string IntervalSentence(const proto::Verdict& verdict) {
  if (!verdict.has_saved_ns() || !verdict.has_scatter_low_ns()) return {};
  return fmt::format(
      "the interval spans the scatter of the steps ({} to {}) and the error of such predictions, "
      "as measured {}",
      FormatTime(verdict.scatter_low_ns()), FormatTime(verdict.scatter_high_ns()),
      verdict.error_cases() > 0
          ? fmt::format("in {} planted cases of this cause", verdict.error_cases())
          : "in planted cases of all causes, too few of this one");
}

std::string BetweenSentence(const proto::Verdict& verdict) {
  if (!verdict.has_between() || verdict.label() == verdict.between().label()) return {};
  return "between regular steps: " + verdict.between().text();
}

std::string RecordingSentence(const proto::Verdict& verdict) {
  if (!verdict.has_saved_ns() || verdict.recording_ns() * 100 < verdict.step_ns()) return {};
  return fmt::format(
      "recording overhead is about {} of the mean step ({} to {}{}), spread over "
      "all launches",
      FormatTime(verdict.recording_ns()), FormatTime(verdict.recording_low_ns()),
      FormatTime(verdict.recording_high_ns()),
      verdict.recording_measured() ? ", measured in this run" : "");
}

std::string ConfidenceSentence(const proto::Verdict& verdict) {
  if (!verdict.abstained().empty()) return {};
  std::string text = fmt::format("confidence {:.2f}", verdict.confidence());
  if (!verdict.has_saved_ns() || !verdict.has_runner_up()) return text;
  if (static_cast<double>(verdict.runner_up().saved_ns()) <
      kShownShare * static_cast<double>(verdict.step_ns()))
    return text + fmt::format("; nothing else saves {} of the step", Percent(kShownShare));
  text += fmt::format("; next {} with {}, ", TitleOn(verdict.runner_up()),
                      FormatTime(verdict.runner_up().saved_ns()));
  return text + (verdict.margin() < 0
                     ? std::string("but less surely")
                     : fmt::format("margin {} of the step", Percent(verdict.margin())));
}

std::string ReplayCheckSentence(const proto::Verdict& verdict) {
  if (!verdict.abstained().empty() || !verdict.has_replay_check()) return {};
  const proto::ReplayCheck& check = verdict.replay_check();
  return fmt::format(
      "cross-check: each half of {} steps predicts the other within {} (worst step {}); {} "
      "unexplained",
      check.steps(), Percent(check.error()), Percent(check.worst_step_error()),
      Percent(check.residual_share()));
}

std::string ViewRange(std::int64_t start_ns, std::int64_t end_ns) {
  return fmt::format("{}..{}", SecondsText(start_ns), SecondsText(end_ns));
}

std::string ViewCommand(std::string_view run, std::int64_t start_ns, std::int64_t end_ns) {
  return fmt::format("traceview {} --view {}", run, ViewRange(start_ns, end_ns));
}

}  // namespace traceinject
