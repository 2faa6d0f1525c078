// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/html/page/document.h"
#include "analyzer/html/sections/sections.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/judged_step.h"
#include "analyzer/report/text/verdict_sentences.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

constexpr int kMaxSavings = 8;

// How much of what the GPUs could do is done, and what it would be without the cause.
void WriteUtilization(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  const proto::Mfu& mfu = to.report.mfu();
  const auto write = [&](const char* name, const std::string& what, const std::string& now,
                         bool is_new_known, const std::string& then) {
    if (is_new_known)
      WriteTile(to.out, name, now + " → " + then, what + "; now → without " + TitleOn(verdict));
    else
      WriteTile(to.out, name, now, what);
  };
  if (mfu.has_mfu_percent())
    write("MFU", "model FLOPs utilization", fmt::format("{:.2f} %", mfu.mfu_percent()),
          verdict.has_new_mfu_percent(), fmt::format("{:.2f} %", verdict.new_mfu_percent()));
  else if (const auto hfu = HfuOf(to.report))
    write(hfu->name.c_str(), "hardware FLOPs utilization", hfu->value,
          !hfu->is_measured && verdict.has_new_peak_share(), Percent(verdict.new_peak_share()));
}

void WriteTiles(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  const auto list = to.out.Open("dl", {{"class", "tiles"}});
  const std::string step = verdict.steps() > 0 ? "Mean step" : "Window";
  if (verdict.has_saved_ns()) {
    const std::string interval = IntervalText(verdict);
    WriteTile(
        to.out, "Saves", FormatTime(verdict.saved_ns()),
        fmt::format("{}{} of the {}", interval.empty() ? "" : "95 % interval " + interval + "; ",
                    FormatShare(verdict.saved_ns(), verdict.step_ns()),
                    verdict.steps() > 0 ? "step" : "window"));
    WriteTile(to.out, step,
              FormatTime(verdict.step_ns()) + " → " + FormatTime(verdict.new_step_ns()),
              "now → without " + TitleOn(verdict) +
                  (verdict.recording_ns() * 1000 > verdict.step_ns()
                       ? fmt::format(" and without recording, which adds {}",
                                     FormatTime(verdict.recording_ns()))
                       : std::string()));
  } else if (verdict.has_step_ns()) {
    WriteTile(to.out, step, FormatTime(verdict.step_ns()),
              verdict.steps() > 0 ? fmt::format("mean of {}", Plural(verdict.steps(), "step"))
                                  : std::string());
  }
  for (const TargetFigure& figure : TargetsOf(to.report))
    WriteTile(to.out, figure.name, figure.value,
              fmt::format("target {}: {}", figure.target, figure.outcome));
  WriteUtilization(to);
  if (verdict.abstained().empty())
    WriteTile(to.out, "Confidence", fmt::format("{:.2f}", verdict.confidence()), "of 1");
}

// One after the other, each with what is left of the step.
void WriteFixOrder(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  if (verdict.fix_order().empty()) return;
  std::vector<Bar> bars;
  bars.push_back(
      {"now",
       FormatTime(verdict.step_ns()),
       {{"step", "left", static_cast<double>(verdict.step_ns()), FormatTime(verdict.step_ns())}}});
  for (const proto::FixStep& step : verdict.fix_order())
    bars.push_back(
        {(bars.size() == 1 ? "without " : "then without ") + TitleOn(step),
         FormatTime(step.step_ns()),
         {{"step", "left", static_cast<double>(step.step_ns()), FormatTime(step.step_ns())},
          {"saved", "saved", static_cast<double>(step.saved_ns()), FormatTime(step.saved_ns())}}});
  WriteBars(
      to.out,
      {verdict.fix_order_size() > 1 ? "Fix order: remaining step time" : "Remaining step time",
       "",
       {{"step", "left"}, {"saved", "saved"}}},
      bars);
  for (const std::string& sentence : verdict.interactions())
    to.out.Leaf("p", sentence, {{"class", "note"}});
}

void WriteSavings(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  if (verdict.savings().empty()) return;
  std::vector<IntervalBar> bars;
  for (const proto::Saving& saving : verdict.savings()) {
    if (static_cast<int>(bars.size()) == kMaxSavings) break;
    const bool known = saving.has_saved_low_ns();
    const std::string interval = known ? " (" + IntervalText(saving) + ")" : std::string();
    bars.push_back({TitleOn(saving), LabelOn(saving) == LabelOn(verdict) ? "chosen" : "other",
                    static_cast<double>(saving.saved_ns()),
                    static_cast<double>(known ? saving.saved_low_ns() : saving.saved_ns()),
                    static_cast<double>(known ? saving.saved_high_ns() : saving.saved_ns()),
                    FormatTime(saving.saved_ns()) + interval});
  }
  WriteIntervalBars(
      to.out,
      {fmt::format("Time saved per step if this cause alone is removed{}",
                   verdict.savings(0).has_saved_low_ns() ? ", with 95 % interval" : ""),
       ""},
      bars);
  const int left = verdict.savings_size() - static_cast<int>(bars.size());
  to.out.Leaf("p",
              "Causes overlap: do not add them up." +
                  (left > 0 ? fmt::format(" {} smaller causes are not shown.", left) : ""),
              {{"class", "note"}});
}

// The address at which the served timeline shows it: behind "#" stands the view.
std::string ServedPlace(const std::string& served, const proto::Evidence& evidence) {
  const char* const joint = served.find('#') == std::string::npos ? "#" : "&";
  return served + joint + "t=" + ViewRange(evidence.start_ns(), evidence.end_ns());
}

// When it was; a link where the timeline of the page shows it, and one to the served timeline.
void WritePlace(const HtmlReport& to, const proto::Evidence& evidence, std::size_t line) {
  if (!evidence.has_start_ns() || !evidence.has_end_ns()) return;
  const std::string text =
      fmt::format("at {} to {}", FormatTime(evidence.start_ns()), FormatTime(evidence.end_ns()));
  const auto& places = to.timeline.excerpt.places;
  if (line < places.size() && places[line])
    to.out.Leaf("a", text, {{"class", "place"}, {"href", "#" + EvidenceAnchor(line)}});
  else
    to.out.Leaf("span", text, {{"class", "place"}});
  if (to.timeline.served.empty()) return;
  to.out.Text(", ");
  to.out.Leaf("a", "in traceview",
              {{"class", "place"}, {"href", ServedPlace(to.timeline.served, evidence)}});
}

void WriteEvidence(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  if (verdict.evidence().empty()) return;
  to.out.Leaf("h2", fmt::format("Evidence ({})", verdict.device()));
  const auto list = to.out.Open("ul", {{"class", "findings"}});
  for (int i = 0; i < verdict.evidence_size(); ++i) {
    const auto item = to.out.Open("li");
    to.out.Text(verdict.evidence(i).text() + " ");
    WritePlace(to, verdict.evidence(i), static_cast<std::size_t>(i));
  }
}

void WriteLever(Markup& out, const proto::Lever& lever) {
  const auto item = out.Open("li");
  {
    const auto line = out.Open("p", {{"class", "setting"}});
    out.Leaf("b", lever.setting());
    for (const proto::LeverValue& value : lever.values()) {
      const auto chip = out.Open("span", {{"class", "value"}});
      out.Text(value.name() + " ");
      out.Leaf("code", value.current());
      if (value.suggested().empty()) continue;
      out.Text(" → ");
      out.Leaf("code", value.suggested(), {{"class", "suggested"}});
    }
  }
  if (!lever.change().empty()) out.Leaf("p", lever.change());
  if (!lever.source().empty()) out.Leaf("p", lever.source(), {{"class", "source"}});
}

void WriteLevers(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  if (verdict.levers().empty()) return;
  to.out.Leaf("h2", "What to change");
  const auto list = to.out.Open("ol", {{"class", "levers"}});
  for (const proto::Lever& lever : verdict.levers()) WriteLever(to.out, lever);
}

// How it is edged: something to mend, nothing to mend, nothing known.
std::string CardOf(const proto::Verdict& verdict) {
  if (verdict.has_saved_ns()) return "card";
  return verdict.abstained().empty() ? "card healthy" : "card unknown";
}

// Why to believe it, and why not.
void WriteConfidence(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  std::vector<std::string> sentences;
  for (std::string& sentence :
       std::vector{IntervalSentence(verdict), BetweenSentence(verdict), ConfidenceSentence(verdict),
                   ReplayCheckSentence(verdict), RecordingSentence(verdict)}) {
    if (!sentence.empty()) sentences.push_back(std::move(sentence));
  }
  for (const std::string& caveat : verdict.caveats()) sentences.push_back("caveat: " + caveat);
  if (sentences.empty()) return;
  to.out.Leaf("h2", "Confidence");
  const auto list = to.out.Open("ul", {{"class", "findings"}});
  for (const std::string& sentence : sentences) to.out.Leaf("li", sentence);
}

}  // namespace

void WriteVerdictSection(const HtmlReport& to) {
  const proto::Verdict& verdict = to.report.verdict();
  {
    const auto section =
        to.out.Open("section", {{"id", "verdict"}, {"aria-labelledby", "verdict-label"}});
    {
      const auto card = to.out.Open("div", {{"class", CardOf(verdict)}});
      to.out.Leaf("p", "Verdict: what limits this run", {{"class", "kicker"}});
      to.out.Leaf("h1", VerdictTitle(verdict), {{"id", "verdict-label"}});
      to.out.Leaf("p", SavingSentence(verdict), {{"class", "lead"}});
      {
        Reused reused(to);
        WriteHungRun(reused.text());
        WriteTried(reused.text());
      }
      WriteTiles(to);
      WriteMeanStep(to);
    }
    WriteFixOrder(to);
    WriteEvidence(to);
    WriteLevers(to);
    WriteConfidence(to);
    WriteSavings(to);
  }
}

}  // namespace traceinject
