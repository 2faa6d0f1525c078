// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/write_html.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kHtmlProgram[] = "analyze html";
constexpr char kHtmlExamples[] =
    "The page is self-contained: it needs no network and no other files, and can be mailed or "
    "printed.\n"
    "Its figures match analyze report.\n\n"
    "Examples:\n"
    "  analyze html run.db -o report.html               run.db stands for run.rank*.db too\n"
    "  analyze html run/ -o report.html                 every rank in a folder\n"
    "  analyze html run.db --steps 10..20 -o part.html  only these steps\n"
    "  analyze html run.db --timeline http://localhost:8090/ -o report.html\n"
    "                                                   evidence leads to traceview --serve, too\n"
    "  analyze html run.db --params 6.7B --tokens-per-step 4M -o report.html\n"
    "                                                   with model FLOPs utilization\n";

// What a link may lead to: a page, and no script.
std::string CheckServed(const std::string& address) {
  const bool is_page = address.starts_with("http://") || address.starts_with("https://");
  return is_page ? "" : "an address as traceview --serve prints it: http://localhost:8090/";
}

}  // namespace

int RunHtml(const std::vector<std::string>& arguments) {
  RunOptions options;
  CLI::App app(
      "The report on a run as one HTML page: the verdict and what to change, then charts of steps, "
      "idle time, kernels, communication, ranks and GPUs.",
      kHtmlProgram);
  app.footer(kHtmlExamples);
  AddRunOptions(app, options);
  AddAllFlag(app, options.report);
  AddMfuOptions(app, options.report.mfu);
  std::string served;
  app.add_option("--timeline", served,
                 "where traceview --serve shows the run; evidence on the page leads there, too. "
                 "With the token in it (#token=...), whoever has the page may look")
      ->type_name("URL")
      ->check(CheckServed);
  if (const auto exit_code = ParseRunArguments(app, arguments, options)) return *exit_code;
  if (options.output == "-" && isatty(STDOUT_FILENO) == 1) {
    fmt::print(stderr, "{}: refusing to print a page to a terminal; name a file with -o\n",
               kHtmlProgram);
    return kBadUsage;
  }
  const auto run = LoadOrExplain(options);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  const JudgedReport found = BuildJudgedReport(std::get<Run>(run), ForPage(options.report));
  if (LacksSteps(options.report, found.report)) return ExplainNoSteps(kHtmlProgram, found.report);
  PageTimeline timeline = MakePageTimeline(std::get<Run>(run), found, NameOfRun(options.paths));
  timeline.served = served;
  return WriteOrExplain(kHtmlProgram, options.output,
                        WriteHtml(found.report, found.ranks, timeline));
}

}  // namespace traceinject
