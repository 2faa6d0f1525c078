// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/text_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/common/units.h"
#include "analyzer/compare/figure_text.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

constexpr int kBold = 1, kGreen = 32, kRed = 31, kYellow = 33;
constexpr std::size_t kNameWidth = 76;
// Of a step: smaller changes of its parts are told together.
constexpr double kTold = 0.005;

using Rows = std::vector<std::vector<std::string>>;

std::string Interval(const proto::Change& change) {
  if (!change.has_low_ns()) return "unknown";
  return fmt::format("{} to {}{}", SignedTime(change.low_ns()), SignedTime(change.high_ns()),
                     change.certain() ? "" : ", noise");
}

std::string VerdictOf(const proto::ComparedRun& run) {
  if (!run.has_saved_ns()) return run.verdict_title();
  return fmt::format("{} (costs {} per step)", run.verdict_title(), FormatTime(run.saved_ns()));
}

std::string Paths(const proto::ComparedRun& run) {
  if (run.paths_size() == 0) return "nothing";
  return run.paths(0) +
         (run.paths_size() > 1 ? fmt::format(" and {} more", run.paths_size() - 1) : std::string());
}

void WriteHead(const proto::Comparison& found, TextPage& page) {
  const std::string& outcome = found.outcome();
  const int color = outcome == "faster" ? kGreen : outcome == "slower" ? kRed : kBold;
  page.Line(page.Colored(outcome, color));
  page.Sentence(found.conclusion());
  page.Sentence(
      fmt::format("verdict: {} -> {}", VerdictOf(found.before()), VerdictOf(found.after())));
  for (const auto& [name, run] :
       {std::pair("before", &found.before()), std::pair("after", &found.after())}) {
    page.Sentence(
        fmt::format("{}: {} ({} of {}, {})", name, Paths(*run),
                    run->judged_text().empty() ? Plural(run->steps(), "step") : run->judged_text(),
                    run->device(), run->gpu()));
  }
  for (const std::string& caution : found.cautions())
    page.Sentence(page.Colored("caution: ", kYellow) + caution);
}

std::vector<std::string> PartRow(const std::string& name, const proto::Change& change) {
  return {name, FormatTime(change.before_ns()), FormatTime(change.after_ns()),
          SignedTime(change.change_ns()), Interval(change)};
}

// "72.44 ms -> idle: data wait -37.33 ms, idle: python -3.018 ms, others +10.20 us -> 31.24 ms".
std::string Waterfall(const proto::Comparison& found) {
  const proto::Change& step = found.step_ns();
  std::vector<const proto::StepPart*> parts;
  for (const proto::StepPart& part : found.parts()) parts.push_back(&part);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const proto::StepPart* a, const proto::StepPart* b) {
                     return std::abs(a->change().change_ns()) > std::abs(b->change().change_ns());
                   });
  const double least = kTold * static_cast<double>(std::max(step.before_ns(), step.after_ns()));
  std::string text;
  std::int64_t others_ns = step.change_ns();
  for (const proto::StepPart* part : parts) {
    if (static_cast<double>(std::abs(part->change().change_ns())) < least) break;
    text += fmt::format("{} {}, ", part->name(), SignedTime(part->change().change_ns()));
    others_ns -= part->change().change_ns();
  }
  if (text.empty()) return "";
  return fmt::format("{} -> {}others {} -> {}", FormatTime(step.before_ns()), text,
                     SignedTime(others_ns), FormatTime(step.after_ns()));
}

void WriteParts(const proto::Comparison& found, ReportPage& page) {
  if (!found.has_step_ns()) return;
  page.Heading("A mean step");
  Rows rows = {{"", "before", "after", "change", "95 % interval"}};
  for (const proto::StepPart& part : found.parts())
    rows.push_back(PartRow(part.name(), part.change()));
  rows.push_back(PartRow("sum", found.step_ns()));
  page.Table(rows, 1, 3);
  if (const std::string text = Waterfall(found); !text.empty()) page.Sentence(text);
  for (const proto::LeftOutChange& left : found.left_out()) {
    page.Sentence(fmt::format("{} steps: {} before ({}), {} after ({})", left.kind(),
                              left.count_before(), FormatTime(left.total_before_ns()),
                              left.count_after(), FormatTime(left.total_after_ns())));
  }
}

void WriteCauses(const proto::Comparison& found, ReportPage& page) {
  if (found.causes_size() == 0) return;
  page.Heading("What each cause costs per step (causes overlap: do not add them up)");
  const auto time = [](bool known, std::int64_t ns) { return known ? FormatTime(ns) : "none"; };
  Rows rows = {{"", "before", "after"}};
  for (const proto::CauseChange& cause : found.causes()) {
    rows.push_back({TitleOn(cause), time(cause.has_saved_before_ns(), cause.saved_before_ns()),
                    time(cause.has_saved_after_ns(), cause.saved_after_ns())});
  }
  page.Table(rows, 1, 2);
}

std::string ShapeOf(const proto::KernelChange& kernel) {
  if (kernel.grid_size() == 0) return "";
  std::string text =
      fmt::format(", grid {} block {}", DimsText(kernel.grid()), DimsText(kernel.block()));
  if (kernel.grid_before_size() > 0)
    text += fmt::format(", before grid {} block {}", DimsText(kernel.grid_before()),
                        DimsText(kernel.block_before()));
  return text;
}

std::string LengthOf(bool known, double mean_ns, double count) {
  return known ? fmt::format("{:.4g} x {}", count, Rounded(mean_ns)) : "none";
}

void WriteKernel(const proto::KernelChange& kernel, const std::string& title, TextPage& page) {
  page.Line(fmt::format("  {:>11}  {:<8}  {}", SignedTime(kernel.step_ns().change_ns()),
                        kernel.state(), title));
  std::string text = fmt::format(
      "{}: {} per step, before {}{}", KernelClassText(kernel.kernel_class()),
      LengthOf(kernel.has_mean_after_ns(), kernel.mean_after_ns(), kernel.count_after()),
      LengthOf(kernel.has_mean_before_ns(), kernel.mean_before_ns(), kernel.count_before()),
      ShapeOf(kernel));
  if (kernel.has_adjusted_p()) text += fmt::format("; p {:.1g}", kernel.adjusted_p());
  page.Sentence(text, 25);
}

void WriteKernels(const proto::Comparison& found, std::size_t rows, TextPage& page) {
  const proto::KernelChanges& kernels = found.kernels();
  if (kernels.compared() == 0) return;
  page.Heading("Kernels, by change per step");
  page.Sentence(KernelChangesSentence(kernels));
  std::vector<std::string> names;
  for (int i = 0; i < std::min(kernels.rows_size(), static_cast<int>(rows)); ++i)
    names.push_back(kernels.rows(i).name());
  const std::vector<std::string> titles = ShortKernelNames(names, kNameWidth);
  for (std::size_t i = 0; i < titles.size(); ++i)
    WriteKernel(kernels.rows(static_cast<int>(i)), titles[i], page);
  if (kernels.rows_size() > static_cast<int>(rows))
    page.Sentence(fmt::format("and {} more changed; --top shows them",
                              kernels.rows_size() - static_cast<int>(rows)));
}

std::string Message(const proto::CollectiveChange& row) {
  if (!row.has_bucket_low_bytes()) return kUnknownText;
  return MessageSize(row.bucket_low_bytes(), false);
}

std::string Rate(bool known, double gb_per_s) {
  return known ? fmt::format("{:.1f}", gb_per_s) : "";
}

void WriteCollectives(const proto::Comparison& found, std::size_t most, ReportPage& page) {
  if (found.collectives_size() == 0) return;
  page.Heading("Communication per step, before -> after");
  Rows rows = {{"function", "ranks", "message", "count", "kernel time", "exposed", "busbw GB/s",
                "algo / proto"}};
  for (int i = 0; i < std::min(found.collectives_size(), static_cast<int>(most)); ++i) {
    const proto::CollectiveChange& row = found.collectives(i);
    rows.push_back(
        {row.function(),
         row.has_communicator_size() ? fmt::format("{}", row.communicator_size()) : kUnknownText,
         Message(row), fmt::format("{:.4g} -> {:.4g}", row.count_before(), row.count_after()),
         FormatTime(row.kernel_before_ns()) + " -> " + FormatTime(row.kernel_after_ns()),
         FormatTime(row.exposed_before_ns()) + " -> " + FormatTime(row.exposed_after_ns()),
         Rate(row.has_busbw_before_gb_per_s(), row.busbw_before_gb_per_s()) + " -> " +
             Rate(row.has_busbw_after_gb_per_s(), row.busbw_after_gb_per_s()),
         row.carried_out_before() == row.carried_out_after()
             ? row.carried_out_after()
             : row.carried_out_before() + " -> " + row.carried_out_after()});
  }
  page.Table(rows, 1, 6);
}

// Those that are known of both and differ, or of one.
void WriteFigures(const proto::Comparison& found, ReportPage& page) {
  Rows rows = {{"", "before", "after"}};
  for (const proto::FigureChange& figure : found.figures()) {
    if (!figure.has_before() && !figure.has_after()) continue;
    const FigureUnit unit = UnitOfName(figure.unit());
    const std::string was = figure.has_before() ? FigureText(unit, figure.before()) : kUnknownText;
    const std::string is = figure.has_after() ? FigureText(unit, figure.after()) : kUnknownText;
    if (was != is) rows.push_back({figure.name(), was, is});
  }
  if (rows.size() == 1) return;
  page.Heading("Figures that differ (see analyze gate --list)");
  page.Table(rows, 1, 2);
}

void WriteSettings(const proto::Comparison& found, ReportPage& page) {
  page.Heading("Other differences");
  if (found.settings_size() == 0) page.Sentence("nothing recorded");
  for (const proto::SettingChange& setting : found.settings()) {
    const auto value = [](const std::string& text) { return text.empty() ? "none" : text; };
    page.Sentence(fmt::format("{}: {}: {} -> {}", setting.kind(), setting.name(),
                              value(setting.before()), value(setting.after())));
  }
}

}  // namespace

std::string SignedTime(std::int64_t time_ns) {
  return (time_ns > 0 ? "+" : "") + FormatTime(time_ns);
}

std::string KernelChangesSentence(const proto::KernelChanges& kernels) {
  return fmt::format(
      "{} by name, grid and block; no change in {} of them ({} in total); all kernels {}",
      Plural(kernels.compared(), "kernel"), kernels.unchanged(),
      SignedTime(kernels.unchanged_net_ns()), SignedTime(kernels.net_ns()));
}

void WriteComparedSteps(const proto::Comparison& found, ReportPage& page) {
  WriteParts(found, page);
  WriteCauses(found, page);
}

void WriteComparedSurroundings(const proto::Comparison& found, std::size_t collectives,
                               ReportPage& page) {
  WriteCollectives(found, collectives, page);
  WriteFigures(found, page);
  WriteSettings(found, page);
  page.Line("");
  page.Sentence(found.method(), 0);
}

void WriteComparison(const proto::Comparison& found, std::size_t rows, TextPage& page) {
  WriteHead(found, page);
  WriteComparedSteps(found, page);
  WriteKernels(found, rows, page);
  WriteComparedSurroundings(found, rows, page);
}

}  // namespace traceinject
