// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/report_page.h"
#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/commands/shared/run_options.h"

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
  return WriteReportPage(kHtmlProgram, options, served);
}

}  // namespace traceinject
