// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/commands/try/try_commands.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_layout.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/tries/tries_file.h"

namespace traceinject {
namespace {

constexpr char kScoreProgram[] = "analyze score";
constexpr double kNear = 0.10;

std::string TimeWith(std::int64_t ns, const std::optional<std::int64_t>& low,
                     const std::optional<std::int64_t>& high) {
  std::string text = FormatTime(ns);
  if (low && high) text += fmt::format(" ({} to {})", FormatTime(*low), FormatTime(*high));
  return text;
}

std::size_t Count(const std::vector<ScoredTry>& tries, bool (*is_so)(const ScoredTry&)) {
  return static_cast<std::size_t>(std::count_if(tries.begin(), tries.end(), is_so));
}

void WriteScore(const std::vector<ScoredTry>& tries, ReportPage& page) {
  const std::size_t all = tries.size();
  const std::size_t near = Count(tries, [](const ScoredTry& one) { return one.error() <= kNear; });
  const std::size_t held = Count(tries, [](const ScoredTry& one) { return one.holds(); });
  const std::size_t agree = Count(tries, [](const ScoredTry& one) { return one.agrees(); });
  page.Sentence(fmt::format(
      "{} with a prediction: off by {} of the step in the middle; {} of {} within {} of the step; "
      "{} of {} measured savings within the predicted 95 % interval, {} where the interval of what "
      "was measured counts, too",
      Plural(static_cast<std::int64_t>(all), "try", "s"), Percent(MiddleError(tries)), near, all,
      Percent(kNear, 0), held, all, agree));
  std::vector<std::vector<std::string>> rows = {
      {"lever", "label", "step", "predicted", "measured", "off by", "program"}};
  for (const ScoredTry& one : tries)
    rows.push_back({one.tried, one.label, FormatTime(one.step_ns),
                    TimeWith(one.predicted_ns, one.predicted_low_ns, one.predicted_high_ns),
                    TimeWith(one.measured_ns, one.measured_low_ns, one.measured_high_ns),
                    Percent(one.error()), one.command});
  page.Heading("Predictions and what was measured");
  page.Table(rows, 5, 5);
}

}  // namespace

int RunScore(const std::vector<std::string>& arguments) {
  std::string path = "tries";
  CLI::App app("Holds the predictions of verdicts against the fixes that were tried.",
               kScoreProgram);
  app.footer(
      "Reads the tries.db files that analyze try left. Levers that take away a part of a cause "
      "have "
      "no prediction, and\nare not scored.\n\n"
      "Examples:\n"
      "  analyze score               of the folder tries\n"
      "  analyze score /results      of all tries below it\n");
  app.add_option("folder", path, "a folder with tries.db files, or one of them")
      ->type_name("FOLDER")
      ->capture_default_str();
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const Result<std::vector<ScoredTry>> tries = ReadTries(path);
  if (!tries.ok()) {
    fmt::print(stderr, "{}: {}\n", kScoreProgram, tries.error());
    return kUnreadable;
  }
  if (tries.value().empty()) {
    fmt::print(stderr,
               "{}: {}: no tries with a prediction; analyze try -- python train.py makes some\n",
               kScoreProgram, path);
    return kUnreadable;
  }
  const PageStyle style = StyleFor("-");
  TextPage page(style.color, style.width);
  WriteScore(tries.value(), page);
  return WriteOrExplain(kScoreProgram, "-", page.text());
}

}  // namespace traceinject
