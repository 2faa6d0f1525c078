// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/compare/compare_runs.h"
#include "analyzer/compare/text_comparison.h"
#include "analyzer/html/write_comparison_html.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/formats/pb.h"

namespace traceinject {
namespace {

constexpr char kDiffProgram[] = "analyze diff";
constexpr char kDiffExamples[] =
    "Either run can be anything analyze report accepts. Times are for a mean step, so the runs may "
    "differ in\n"
    "length. The steps that the verdict of each run judges are compared. Intervals reflect how "
    "steps vary\n"
    "within these two recordings; variation between recordings of the same program is not "
    "included.\n\n"
    "Examples:\n"
    "  analyze diff before.db after.db                  before and after a change\n"
    "  analyze diff before/ after/                      two multi-rank jobs, one folder each\n"
    "  analyze diff trace_a.json.gz trace_b.json.gz     two torch.profiler traces\n"
    "  analyze diff a.db b.db --steps 10..40            these steps of both\n"
    "  analyze diff a.db b.db --format json             JSON; fields as in comparison.proto\n"
    "  analyze diff a.db b.db --format html -o diff.html  a self-contained page\n"
    "  analyze gate b.db --baseline a.db                fail where b is slower\n";

struct DiffOptions {
  RunOptions run;
  std::string format = "text";
  std::size_t rows = 15;
};

void Describe(CLI::App& app, DiffOptions& options) {
  app.footer(kDiffExamples);
  AddRunOptions(app, options.run);
  app.get_option("run")
      ->expected(2)
      ->type_name("BEFORE AFTER")
      ->description(
          "two runs: each a recording, a name that stands for run.rank*.db, a folder, or a PyTorch "
          "profiler trace");
  app.add_option("--format", options.format,
                 "text, json, pb (binary Protocol Buffers) or html (a page)")
      ->check(CLI::IsMember({"text", "json", "pb", "html"}))
      ->capture_default_str();
  app.add_option("--top", options.rows, "rows of the kernel and communication tables, in text")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  AddMfuOptions(app, options.run.report.mfu);
}

Result<std::string> RenderDiff(const Comparison& found, const DiffOptions& options) {
  if (options.format == "json") return WriteJson(found);
  if (options.format == "pb") return WritePb(found);
  if (options.format == "html") return WriteComparisonHtml(found);
  const PageStyle style = StyleOf(options.run);
  TextPage page(style.color, style.width);
  WriteComparison(found, options.rows, page);
  return page.text();
}

}  // namespace

int RunDiff(const std::vector<std::string>& arguments) {
  DiffOptions options;
  CLI::App app("Shows what changed between two runs, and whether noise explains it.", kDiffProgram);
  Describe(app, options);
  if (const auto exit_code = ParseRunArguments(app, arguments, options.run)) return *exit_code;
  const auto before = LoadOrExplain(OnlyPath(options.run, options.run.paths[0]));
  if (const int* exit_code = std::get_if<int>(&before)) return *exit_code;
  const auto after = LoadOrExplain(OnlyPath(options.run, options.run.paths[1]));
  if (const int* exit_code = std::get_if<int>(&after)) return *exit_code;
  ComparedRun one = PrepareRun(std::get<Run>(before), options.run.report);
  ComparedRun other = PrepareRun(std::get<Run>(after), options.run.report);
  for (const ComparedRun* side : {&one, &other}) {
    if (LacksSteps(options.run.report, side->report))
      return ExplainNoSteps(kDiffProgram, side->report);
  }
  const auto text = RenderDiff(CompareRuns(one, other), options);
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", kDiffProgram, text.error());
    return kUnreadable;
  }
  return WriteOrExplain(kDiffProgram, options.run.output, text.value());
}

}  // namespace traceinject
