// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/write_comparison_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/compare/text_comparison.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/html/page/document.h"
#include "analyzer/html/page/html_page.h"
#include "analyzer/html/page/marks.h"
#include "analyzer/html/sections/html_table.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

using proto::Comparison;
using proto::KernelChange;

constexpr std::size_t kKernelRows = 60, kCollectiveRows = 60;

std::string PathOf(const proto::ComparedRun& run) {
  if (run.paths().empty()) return "nothing";
  return run.paths_size() == 1 ? run.paths(0)
                               : fmt::format("{} and {} more", run.paths(0), run.paths_size() - 1);
}

void WriteTop(const Comparison& found, Markup& out) {
  out.Leaf("p", PathOf(found.before()) + " → " + PathOf(found.after()), {{"class", "files"}});
  for (const auto& [name, run] :
       {std::pair("before", &found.before()), std::pair("after", &found.after())})
    out.Leaf("p",
             fmt::format("{}: {} of {}, {}", name, Plural(run->steps(), "step"), run->device(),
                         run->gpu()),
             {{"class", "about"}});
}

std::string CardOf(const Comparison& found) {
  if (found.outcome() == "faster") return "card healthy";
  return found.outcome() == "slower" ? "card" : "card unknown";
}

void WriteStepTiles(const proto::Change& step, Markup& out) {
  WriteTile(out, "Change per step", SignedTime(step.change_ns()),
            step.has_low_ns() ? fmt::format("95 % interval {} to {}{}", SignedTime(step.low_ns()),
                                            SignedTime(step.high_ns()),
                                            step.certain() ? "" : ": noise explains it")
                              : std::string("too few steps for an interval"));
  WriteTile(out, "Step time", FormatTime(step.before_ns()) + " → " + FormatTime(step.after_ns()),
            "before → after");
  if (step.has_change_share())
    WriteTile(out, "Share", fmt::format("{:+.1f} %", 100 * step.change_share()),
              "of the step before");
}

void WriteCard(const Comparison& found, Markup& out) {
  const auto card = out.Open("div", {{"class", CardOf(found)}});
  out.Leaf("p", "Comparison: what changed", {{"class", "kicker"}});
  out.Leaf("h1", found.outcome(), {{"id", "verdict-label"}});
  out.Leaf("p", found.conclusion(), {{"class", "lead"}});
  const auto tiles = out.Open("dl", {{"class", "tiles"}});
  if (found.has_step_ns()) WriteStepTiles(found.step_ns(), out);
  WriteTile(out, "Verdict", found.before().verdict_title() + " → " + found.after().verdict_title(),
            "before → after");
}

// The two mean steps one below the other, on one scale.
void WriteStepBars(const Comparison& found, Markup& out) {
  Bar before{"before", FormatTime(found.step_ns().before_ns()), {}};
  Bar after{"after", FormatTime(found.step_ns().after_ns()), {}};
  std::vector<ChartKey> legend;
  for (const proto::StepPart& part : found.parts()) {
    const std::string mark = MarkOf(part.name());
    const auto add = [&](Bar& bar, std::int64_t ns) {
      if (ns > 0) bar.parts.push_back({mark, part.name(), static_cast<double>(ns), FormatTime(ns)});
    };
    add(before, part.change().before_ns());
    add(after, part.change().after_ns());
    if (IsSeen(static_cast<double>(part.change().before_ns()),
               static_cast<double>(found.step_ns().before_ns())) ||
        IsSeen(static_cast<double>(part.change().after_ns()),
               static_cast<double>(found.step_ns().after_ns())))
      legend.push_back({mark, part.name()});
  }
  WriteBars(out, {"A mean step", "", legend}, std::vector{before, after});
}

constexpr ColumnOf<KernelChange> kKernelColumns[] = {
    {{"name", "name", Unit::kKernelName, Shown::kAlways, "demangled"},
     [](const KernelChange& k) { return Cell(k.name()); }},
    {{"state", "state", Unit::kText, Shown::kAlways,
      "new, gone; reshaped: different grid or block; slower, faster: per launch; more, fewer: "
      "launches"},
     [](const KernelChange& k) { return TextIfAny(k.state()); }},
    {{"change_ns", "change", Unit::kTime, Shown::kAlways, "of the time per step"},
     [](const KernelChange& k) { return CellIf(k.has_step_ns(), k.step_ns().change_ns()); }},
    {{"before_ns", "before", Unit::kTime, Shown::kAlways, "in a step"},
     [](const KernelChange& k) { return CellIf(k.has_step_ns(), k.step_ns().before_ns()); }},
    {{"after_ns", "after", Unit::kTime, Shown::kAlways, "in a step"},
     [](const KernelChange& k) { return CellIf(k.has_step_ns(), k.step_ns().after_ns()); }},
    {{"count_before", "launches before", Unit::kNumber, Shown::kAlways, "in a step"},
     [](const KernelChange& k) { return Cell(k.count_before()); }},
    {{"count_after", "after", Unit::kNumber, Shown::kAlways, "launches per step"},
     [](const KernelChange& k) { return Cell(k.count_after()); }},
    {{"kernel_class", "class", Unit::kKernelClass, Shown::kIfItFits, "by its name"},
     [](const KernelChange& k) { return TextIfAny(k.kernel_class()); }},
    {{"adjusted_p", "p", Unit::kNumber, Shown::kIfItFits,
      "probability that noise causes such a change, adjusted for all compared kernels"},
     [](const KernelChange& k) { return CellIf(k.has_adjusted_p(), k.adjusted_p()); }},
};

void WriteKernels(const Comparison& found, Markup& out) {
  const proto::KernelChanges& kernels = found.kernels();
  if (kernels.compared() == 0) return;
  const auto section = out.Open("section", {{"id", "kernels"}});
  out.Leaf("h2", "Kernels, by change per step");
  out.Leaf("p", KernelChangesSentence(kernels));
  WriteHtmlTable(out, TableOf<KernelChange>(kKernelColumns, kernels.rows()),
                 {.caption = "Kernels that changed, largest change per step first",
                  .rows = kKernelRows,
                  .where_all = "analyze diff --format json has all"},
                 "No kernel changed.");
}

void WriteMain(const Comparison& found, Markup& out) {
  {
    const auto section =
        out.Open("section", {{"id", "verdict"}, {"aria-labelledby", "verdict-label"}});
    WriteCard(found, out);
    if (!found.cautions().empty()) {
      out.Leaf("h2", "Cautions");
      const auto list = out.Open("ul", {{"class", "findings"}});
      for (const std::string& caution : found.cautions()) out.Leaf("li", caution);
    }
    if (found.has_step_ns()) WriteStepBars(found, out);
  }
  {
    HtmlPage page(out, "h2");
    WriteComparedSteps(found, page);
  }
  WriteKernels(found, out);
  HtmlPage page(out, "h2");
  WriteComparedSurroundings(found, kCollectiveRows, page);
}

}  // namespace

std::string WriteComparisonHtml(const Comparison& found) {
  return WriteDocument(
      {found.outcome() + " - " + PathOf(found.before()) + " → " + PathOf(found.after()),
       [&](Markup& out) { WriteTop(found, out); }, [&](Markup& out) { WriteMain(found, out); },
       fmt::format("analyze {}. All figures match analyze diff on the same recordings.",
                   found.tool_version())});
}

}  // namespace traceinject
