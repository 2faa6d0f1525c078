// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/write_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxNumberRanges = 3;

std::string WholeText(const DeviceFigures& of) {
  return of.window.restricted ? "all of the selected time" : "the whole recording";
}

std::string TextOf(const ReportOptions& options, const DeviceFigures& of) {
  if (of.steps.source == StepSource::kWindow) return WholeText(of) + " (no steps found)";
  if (of.uncertain) return WholeText(of) + " (what belongs to which step is uncertain)";
  return options.all || of.steps.count_judged() == 0 ? WholeText(of) : JudgedText(of.steps);
}

// "12..35", "7"
std::string RangeText(std::int64_t first, std::int64_t last) {
  return last > first ? fmt::format("{}..{}", first, last) : fmt::format("{}", first);
}

// "12..35", "10 before step 0, 0..24"
std::string RangeOf(const Steps& steps, std::size_t first_row, std::size_t last_row) {
  const std::int64_t first = steps.number(first_row), last = steps.number(last_row);
  const std::int64_t own = steps.numbers ? steps.numbers->first : first;
  if (first >= own) return RangeText(first, last);
  // Those that the program does not number.
  const std::string before = fmt::format("{} before step {}", std::min(last + 1, own) - first, own);
  return last < own ? before : before + ", " + RangeText(own, last);
}

// "12..35", "3..9, 11..40"; of many ranges "3..320 without 5 of them".
std::string NumbersOf(const Steps& steps) {
  std::string text;
  std::size_t ranges = 0, first_judged = steps.steps.size(), last_judged = 0;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (!steps.steps[i].judged) continue;
    const std::size_t first = i;
    first_judged = std::min(first_judged, first);
    while (i + 1 < steps.steps.size() && steps.steps[i + 1].judged) ++i;
    last_judged = i;
    ++ranges;
    text += (text.empty() ? "" : ", ") + RangeOf(steps, first, i);
  }
  if (ranges <= kMaxNumberRanges) return text;
  return fmt::format("{} without {} of them", RangeOf(steps, first_judged, last_judged),
                     last_judged - first_judged + 1 - steps.count_judged());
}

// "4 warm-up (3.2 s)" of each kind that was left out.
void AddLeftOut(const DeviceFigures& of, std::vector<std::string>& parts) {
  for (const StepKind kind : kStepKinds) {
    std::size_t count = 0;
    TimeNs total_ns = 0;
    for (std::size_t i = 0; i < of.kinds.size(); ++i) {
      if (of.kinds[i] != kind || of.steps.steps[i].judged) continue;
      ++count;
      total_ns += of.steps.steps[i].length_ns();
    }
    if (count > 0)
      parts.push_back(fmt::format("{} {} step{} ({})", count, StepKindName(kind),
                                  count == 1 ? "" : "s", FormatTime(total_ns)));
  }
}

std::string OutsideOf(const DeviceFigures& of) {
  std::vector<std::string> parts;
  const TimeNs before_ns = of.steps.start_ns - of.window.time.start;
  const TimeNs after_ns = of.window.time.end - of.steps.steps.back().time.end;
  // Less is not worth a word.
  const TimeNs least_ns = Length({of.window.time}) / 1000;
  if (before_ns > least_ns)
    parts.push_back(fmt::format("{} before the first step", FormatTime(before_ns)));
  AddLeftOut(of, parts);
  if (after_ns > least_ns)
    parts.push_back(fmt::format("{} after the last one", FormatTime(after_ns)));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

std::string JudgedText(const Steps& steps) {
  if (steps.source == StepSource::kWindow) return "";
  const std::size_t judged = steps.count_judged(), all = steps.steps.size();
  return judged == all ? fmt::format("{} steps: {}", all, NumbersOf(steps))
                       : fmt::format("{} of {} steps: {}", judged, all, NumbersOf(steps));
}

void WriteScope(const RunAnalysis& analysis, const DeviceFigures& of, Report& report) {
  proto::Scope& to = *report.mutable_scope();
  to.Clear();
  to.set_all(analysis.options.all);
  to.set_text(TextOf(analysis.options, of));
  to.set_time_ns(Length(of.times));
  if (of.steps.source == StepSource::kWindow || of.uncertain) return;
  to.set_steps(static_cast<std::int64_t>(of.steps.count_judged()));
  to.set_of_steps(static_cast<std::int64_t>(of.steps.steps.size()));
  if (!analysis.options.all) to.set_outside(OutsideOf(of));
}

}  // namespace traceinject
