// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/judged_step.h"
#include "analyzer/report/text/text_sections.h"
#include "analyzer/report/text/verdict_sentences.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

// One screen holds so many of each.
constexpr int kCaveats = 2, kLevers = 3, kNotes = 2, kReasons = 2;
constexpr std::size_t kKernels = 5;
constexpr std::size_t kMaxBar = 120;

// Of each part of the bar a character; the first has none of its own.
struct BarPart {
  char mark;
  std::string name;
  std::int64_t ns = 0;
};

std::vector<BarPart> PartsOf(const proto::StepSplit& step) {
  return {{'#', "compute", step.compute_ns()},
          {'+', "exposed communication", step.exposed_communication_ns()},
          {'=', "exposed copies", step.exposed_copy_ns()},
          {'.', "idle", step.idle_ns()},
          {'?', "not recorded", step.unrecorded_ns()}};
}

// Parts end where their sums do, so that rounding never moves the end of the bar.
std::string BarText(const std::vector<BarPart>& parts, std::int64_t length_ns, std::size_t width) {
  std::string bar;
  double until = 0;
  for (const BarPart& part : parts) {
    until += static_cast<double>(part.ns) / static_cast<double>(length_ns);
    const double end = std::clamp(until, 0.0, 1.0) * static_cast<double>(width);
    bar.resize(std::max(bar.size(), static_cast<std::size_t>(std::lround(end))), part.mark);
  }
  return bar;
}

// ": data wait 31.02 ms, launch 210.0 us", the largest first.
std::string IdleText(const proto::StepSplit& sum, std::int64_t steps) {
  std::vector<const proto::IdlePart*> parts;
  for (const proto::IdlePart& part : sum.idle()) {
    if (IsShown(part.ns(), sum.length_ns())) parts.push_back(&part);
  }
  std::stable_sort(
      parts.begin(), parts.end(),
      [](const proto::IdlePart* a, const proto::IdlePart* b) { return a->ns() > b->ns(); });
  std::string text;
  for (const proto::IdlePart* part : parts)
    text += fmt::format("{}{} {}", text.empty() ? ": " : ", ", part->cause(),
                        FormatTime(part->ns() / steps));
  return text;
}

void WriteBar(TextReport& to, const proto::DeviceSteps& steps) {
  const proto::StepSplit& sum = steps.judged_sum();
  if (sum.length_ns() <= 0) return to.page.Sentence("step split withheld: see Trust in --full");
  const std::int64_t count = std::max<std::int64_t>(1, steps.judged());
  const std::vector<BarPart> parts = PartsOf(sum);
  const std::size_t width = std::min(to.options.width - 4, kMaxBar);
  to.page.Line("  [" + BarText(parts, sum.length_ns(), width - 2) + "]");
  std::string legend;
  for (const BarPart& part : parts) {
    if (!IsShown(part.ns, sum.length_ns())) continue;
    legend += fmt::format("{}{} {} {} ({})", legend.empty() ? "" : "; ", part.mark, part.name,
                          FormatTime(part.ns / count), FormatShare(part.ns, sum.length_ns()));
    if (part.mark == '.') legend += IdleText(sum, count);
  }
  to.page.Sentence(legend);
}

void WriteTargets(TextReport& to) {
  TextRows rows;
  for (const TargetFigure& figure : TargetsOf(to.report))
    rows.push_back({figure.name, figure.value, "target " + figure.target, figure.outcome});
  if (to.report.mfu().has_mfu_percent())
    rows.push_back({"MFU", fmt::format("{:.1f} %", to.report.mfu().mfu_percent()), "", ""});
  else if (const auto hfu = HfuOf(to.report))
    rows.push_back({hfu->name, hfu->value, "", ""});
  if (!rows.empty()) to.page.Table(rows, 1, 1);
  const proto::Spread& busy = to.report.run().busy_share();
  if (to.report.devices_size() < 2 || FindWithheld(to, "partition", kAnySource) != nullptr) return;
  to.page.Sentence(fmt::format("busy on {} GPUs: {} ({}) to {} ({})", to.report.devices_size(),
                               Percent(busy.min()), busy.min_at(), Percent(busy.max()),
                               busy.max_at()));
}

void WriteStep(TextReport& to) {
  const proto::DeviceSteps* steps = JudgedSteps(to.report);
  if (steps == nullptr) return;
  to.page.Heading(MeanStepTitle(to.report, *steps));
  if (const std::string& outside = to.report.scope().outside(); !outside.empty())
    to.page.Sentence("outside of these: " + outside);
  WriteBar(to, *steps);
  WriteTargets(to);
}

void WriteTopKernels(TextReport& to) {
  const proto::Run& run = to.report.run();
  if (run.top_kernels().empty()) return;
  std::vector<std::string> names;
  for (const proto::Kernel& kernel : run.top_kernels()) {
    if (names.size() < kKernels && kernel.total_ns() > 0) names.push_back(kernel.name());
  }
  constexpr std::size_t kNameColumn = 23;
  to.page.Heading(to.report.devices_size() > 1 ? "Kernels, all GPUs, by time" : "Kernels, by time");
  names = ShortKernelNames(names, to.options.width - kNameColumn);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const proto::Kernel& kernel = run.top_kernels(static_cast<int>(i));
    to.page.Line(fmt::format("  {:>8}  {:>9}  {}", Percent(kernel.share()),
                             FormatTime(kernel.total_ns()), names[i]));
  }
}

void WriteAdvice(TextReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  const std::string fixes = FixOrderText(verdict);
  if (verdict.levers().empty() && fixes.empty()) return;
  to.page.Heading("What to change");
  // Sentences of a narrow page take more lines, and it is one screen.
  const int count = to.options.width < 80 ? kLevers - 1 : kLevers;
  for (int i = 0; i < std::min(count, verdict.levers_size()); ++i) {
    const proto::Lever& lever = verdict.levers(i);
    to.page.Sentence("- " + SettingText(lever) +
                     (lever.change().empty() ? "" : ": " + lever.change()));
  }
  if (!fixes.empty()) to.page.Sentence("fix order: " + fixes);
}

std::string RecordsText(const proto::Health& health) {
  if (!health.has_lost_share()) return "no counters";
  return fmt::format("{} records, {}", FormatCount(health.records_seen()),
                     health.records_lost() == 0
                         ? "none lost"
                         : fmt::format("{} lost ({})", FormatCount(health.records_lost()),
                                       Percent(health.lost_share(), 3)));
}

void WriteRecording(TextReport& to) {
  const proto::Report& report = to.report;
  const proto::Health& health = report.health();
  const bool good = health.grade() == proto::Health::GRADE_GOOD;
  const std::string grade = HealthGradeText(health.grade());
  to.page.Heading("The recording");
  to.page.Sentence(
      fmt::format("trace health: {} ({}); {}, {}{}", to.page.Colored(grade, good ? 32 : 33),
                  RecordsText(health), Plural(report.run().process_count(), "process", "es"),
                  Plural(report.run().device_count(), "GPU"),
                  report.devices().empty() ? std::string() : " (" + GpuNames(report) + ")"));
  for (int i = 0; i < std::min(health.reasons_size(), kReasons); ++i)
    to.page.Sentence("- " + health.reasons(i));
  for (const proto::Withheld& withheld : report.trust().withheld())
    to.page.Sentence("- " + WithheldText(report, withheld));
  for (int i = 0; i < std::min(report.notes_size(), kNotes); ++i)
    to.page.Sentence("note: " + report.notes(i));
}

// What has a section of its own in the full report, and may matter more than the verdict.
void WriteSignals(TextReport& to) {
  int findings = 0;
  for (const proto::HygieneFinding& finding : to.report.hygiene()) {
    if (finding.severity() == "note") continue;
    if (++findings == 1) to.page.Sentence(finding.severity() + ": " + finding.text());
  }
  if (findings > 1)
    to.page.Sentence(
        fmt::format("{} of this machine in --full", Plural(findings - 1, "more finding")));
  for (const proto::RankFinding& finding : to.report.rank_findings()) {
    const auto& evidence = to.report.verdict().evidence();
    if (std::any_of(evidence.begin(), evidence.end(),
                    [&](const proto::Evidence& line) { return line.text() == finding.text(); }))
      continue;
    to.page.Sentence("between ranks: " + finding.text());
    break;
  }
}

}  // namespace

void WriteScope(TextReport& to) {
  const proto::Scope& scope = to.report.scope();
  if (scope.text().empty()) return;
  to.page.Sentence(
      fmt::format("figures are over {}{}", scope.text(),
                  scope.steps() > 0 && !scope.all() ? "; --all: over the whole recording" : ""));
  if (!scope.outside().empty()) to.page.Sentence("outside of these steps: " + scope.outside());
}

void WriteFirstScreen(TextReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  WriteHungRun(to);
  WriteTried(to);
  if (!verdict.label().empty()) {
    to.page.Sentence(to.page.Colored("verdict: " + VerdictTitle(verdict), 1), 0);
    for (const std::string& sentence :
         {SavingSentence(verdict), BetweenSentence(verdict), ConfidenceSentence(verdict)}) {
      if (!sentence.empty()) to.page.Sentence(sentence);
    }
    if (!verdict.loss().empty()) to.page.Sentence(verdict.loss());
    for (int i = 0; i < std::min(verdict.caveats_size(), kCaveats); ++i)
      to.page.Sentence("caveat: " + verdict.caveats(i));
  }
  WriteStep(to);
  WriteTopKernels(to);
  WriteAdvice(to);
  WriteRecording(to);
  WriteSignals(to);
  to.page.Sentence(fmt::format(
      "more: analyze {} --full (all sections); analyze html and traceview take the same "
      "recordings",
      RunName(to)));
}

}  // namespace traceinject
