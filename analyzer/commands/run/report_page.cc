// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/report_page.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <variant>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/write_html.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {

int WriteReportPage(const char* program, const RunOptions& options, const std::string& served) {
  if (options.output == "-" && isatty(STDOUT_FILENO) == 1) {
    fmt::print(stderr, "{}: refusing to print a page to a terminal; name a file with -o\n",
               program);
    return kBadUsage;
  }
  const auto run = LoadOrExplain(options);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  const JudgedReport found = BuildJudgedReport(std::get<Run>(run), ForPage(options.report));
  if (LacksSteps(options.report, found.report)) return ExplainNoSteps(program, found.report);
  PageTimeline timeline = MakePageTimeline(std::get<Run>(run), found, NameOfRun(options.paths));
  timeline.served = served;
  return WriteOrExplain(program, options.output, WriteHtml(found.report, found.ranks, timeline));
}

}  // namespace traceinject
