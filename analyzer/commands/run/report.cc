// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/report_page.h"
#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/formats/pb.h"
#include "analyzer/report/text/text.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kReportProgram[] = "analyze report";
constexpr char kReportExamples[] =
    "Examples:\n"
    "  analyze run.db                                   the report; run.db also stands for "
    "run.rank*.db\n"
    "  analyze run.db --full                            every section of it\n"
    "  analyze run.db --full --all                      the same over the whole recording, "
    "start-up included\n"
    "  analyze run.db --from 1.5s --to 2s               only this part of the run\n"
    "  analyze run.db --steps 10..20                    only these steps, numbered as in "
    "traceview\n"
    "  analyze run.db --step-regex '^batch [0-9]+$'     NVTX ranges with matching names are the "
    "steps\n"
    "  analyze run.db --params 6.7B --tokens-per-step 4M  with model FLOPs utilization (6 x "
    "parameters x tokens)\n"
    "  analyze run.db --format json -o report.json      the same figures as JSON; fields as in "
    "report.proto\n";

struct ReportCommand {
  RunOptions run;
  std::string format = "text";
  bool full = false;
};

void DescribeReport(CLI::App& app, ReportCommand& options) {
  app.footer(kReportExamples);
  AddRunOptions(app, options.run);
  ReportOptions& report = options.run.report;
  AddAllFlag(app, report);
  app.add_option("--format", options.format,
                 "text, json, pb (binary Protocol Buffers) or html (a page, as analyze html)")
      ->check(CLI::IsMember({"text", "json", "pb", "html"}))
      ->capture_default_str();
  app.add_flag("--full", options.full, "in text: every section, not the first screen alone");
  app.add_option("--top", report.top_kernels, "rows of each kernel table in text, json and pb")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  AddMfuOptions(app, report.mfu);
}

Result<std::string> RenderReport(const Report& report, const ReportCommand& options) {
  if (options.format == "json") return WriteJson(report);
  if (options.format == "pb") return WritePb(report);
  TextOptions text;
  const PageStyle style = StyleOf(options.run);
  text.width = style.width;
  text.color = style.color;
  text.full = options.full;
  text.run = NameOfRun(options.run.paths);
  return WriteText(report, text);
}

}  // namespace

int RunReport(const std::vector<std::string>& arguments) {
  ReportCommand options;
  CLI::App app(
      "Reports what limits the run and what to change, then where GPU time went, per rank and "
      "device and for the whole run.",
      kReportProgram);
  DescribeReport(app, options);
  if (const auto exit_code = ParseRunArguments(app, arguments, options.run)) return *exit_code;
  if (options.format == "html") return WriteReportPage(kReportProgram, options.run, "");

  const auto run = LoadOrExplain(options.run);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  const Report report = BuildReportWithVerdict(std::get<Run>(run), options.run.report);
  if (LacksSteps(options.run.report, report)) return ExplainNoSteps(kReportProgram, report);
  const auto text = RenderReport(report, options);
  if (!text.ok()) {
    fmt::print(stderr, "{}: {}\n", kReportProgram, text.error());
    return kUnreadable;
  }
  return WriteOrExplain(kReportProgram, options.run.output, text.value());
}

}  // namespace traceinject
