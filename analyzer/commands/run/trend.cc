// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/trend_runs.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/common/units.h"
#include "analyzer/html/write_trend_html.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/formats/pb.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/trend/find_runs.h"
#include "analyzer/trend/find_trend.h"
#include "analyzer/trend/text_trend.h"

namespace traceinject {
namespace {

constexpr char kTrendProgram[] = "analyze trend";
constexpr char kTrendExamples[] =
    "Of a folder each recording is a run, all ranks of one name together, and so is each folder "
    "below it that\n"
    "holds recordings. Runs are compared where program, number of ranks, and GPU are the same, in "
    "the order in\n"
    "which they began. A change of the step time is told once two runs have the new level; what "
    "else changed\n"
    "with it stands beside it. Runs that are being recorded are left out.\n\n"
    "Examples:\n"
    "  analyze trend nightly/                           all runs in a folder\n"
    "  analyze trend nightly/ --html trend.html         a page; reports of all runs beside it\n"
    "  analyze trend nightly/ --fail-on-regression      for CI\n"
    "  analyze trend nightly/ --fail-on-regression --since 2026-11-20   what began before is "
    "accepted\n"
    "  analyze trend a.db b.db c.db --format json\n\n"
    "Exit code 1 with --fail-on-regression if the newest change of a group is to slower steps, "
    "else 0.\n";

struct TrendCommand {
  std::vector<std::string> paths;
  TrendReading read;
  TrendOptions trend;
  std::string format = "text", output = "-";
  std::size_t rows = 30;
  bool fail_on_regression = false;
};

void DescribeTrend(CLI::App& app, TrendCommand& options) {
  app.footer(kTrendExamples);
  app.add_option("runs", options.paths,
                 "folders of runs, recordings, or names that stand for run.rank*.db")
      ->required();
  app.add_flag("--fail-on-regression", options.fail_on_regression,
               "exit code 1 if the newest change of the step time is to slower steps");
  AddTolerance(app, options.trend.tolerance,
               "a slow-down of no more than this is no regression (default 3)");
  app.add_option_function<std::string>(
         "--since",
         [&options](const std::string& text) {
           const auto parsed = ParseDate(text);
           if (!parsed.ok()) throw CLI::ValidationError("--since", parsed.error());
           options.trend.since_unix_ns = parsed.value();
         },
         "slow-downs of runs that began earlier are no regressions (UTC)")
      ->type_name("DATE");
  app.add_option("--format", options.format,
                 "text, json (fields as in trend.proto) or pb (binary Protocol Buffers)")
      ->check(CLI::IsMember({"text", "json", "pb"}))
      ->capture_default_str();
  app.add_option("--rows", options.rows, "runs of each group, in text; the newest ones; 0: all")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  AddOutput(app, options.output);
  app.add_option("--html", options.read.html,
                 "also write a page, and the reports of the runs as pages beside it")
      ->type_name("FILE");
  app.add_flag("--no-reports", options.read.no_reports, "with --html: no reports of the runs");
  app.add_option_function<std::string>(
         "--step-regex",
         [&options](const std::string& text) {
           auto parsed = StepPattern::Parse(text);
           if (!parsed.ok()) throw CLI::ValidationError("--step-regex", parsed.error());
           options.read.report.step_pattern = std::move(parsed).value();
         },
         "use the NVTX ranges whose names match this regular expression as steps")
      ->type_name("REGEX");
  AddMfuOptions(app, options.read.report.mfu);
  app.add_flag("--no-cache", options.read.no_cache,
               "read all runs again, and keep nothing of them in the user's cache folder");
  app.add_flag("--no-progress", options.read.no_progress, "draw no progress bar");
}

Result<std::string> RenderTrend(const proto::Trend& trend, const TrendCommand& options) {
  if (options.format == "json") return WriteJson(trend);
  if (options.format == "pb") return WritePb(trend);
  const PageStyle style = StyleFor(options.output);
  TextPage page(style.color, style.width);
  WriteTrend(trend, options.rows, page);
  return page.text();
}

int WriteTrendFiles(const proto::Trend& trend, const TrendCommand& options) {
  if (!options.read.html.empty()) {
    const int written = WriteOrExplain(kTrendProgram, options.read.html, WriteTrendHtml(trend));
    if (written != kReported) return written;
  }
  const Result<std::string> text = RenderTrend(trend, options);
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", kTrendProgram, text.error());
    return kUnreadable;
  }
  return WriteOrExplain(kTrendProgram, options.output, text.value());
}

}  // namespace

int RunTrend(const std::vector<std::string>& arguments) {
  TrendCommand options;
  CLI::App app("Shows how the step time of runs changed over time, and what changed with it.",
               kTrendProgram);
  DescribeTrend(app, options);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const auto found = FindRuns(options.paths);
  if (!found.ok()) {
    fmt::print(stderr, "{}: {}\n", kTrendProgram, found.error());
    return kUnreadable;
  }
  TrendRuns runs = ReadTrendRuns(found.value(), options.read);
  if (runs.runs.empty()) {
    for (const std::string& reason : runs.left_out) fmt::print(stderr, "{}\n", reason);
    fmt::print(stderr, "{}: none of {} could be read\n", kTrendProgram,
               Plural(static_cast<std::int64_t>(found.value().size()), "run"));
    return kUnreadable;
  }
  proto::Trend trend = FindTrend(std::move(runs.runs), options.trend);
  for (std::string& reason : runs.left_out) trend.add_left_out(std::move(reason));
  const int written = WriteTrendFiles(trend, options);
  const bool failed = options.fail_on_regression && trend.regressed();
  return written == kReported && failed ? kGateFailed : written;
}

}  // namespace traceinject
