// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/table_command.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

constexpr char kStepsAbout[] =
    "Every training step of each GPU, split exactly: the parts add up to its length to the "
    "nanosecond, and the idle causes to its idle time.";
constexpr char kStepsDefinitions[] =
    "A step lasts until the work launched in it ends; idle time after that belongs to the next\n"
    "step.\n";
constexpr char kStepsExamples[] =
    "  analyze steps run.db --sort length_ns\n"
    "  analyze steps run.db --columns step,length_ns,idle_data_wait_ns --limit 0\n"
    "  analyze steps run.db --device 0 --format csv -o steps.csv\n";

std::string StepsSummary(const Report& report) {
  std::string text;
  for (const proto::DeviceSteps& steps : report.steps()) {
    text += fmt::format("{}{}: {} ({}), median {}, MAD {}", text.empty() ? "" : "; ", steps.label(),
                        Plural(steps.count(), "step"), steps.source(),
                        FormatTime(steps.median_ns()), FormatTime(steps.mad_ns()));
    for (const proto::LeftOutSteps& left : steps.left_out())
      text += fmt::format(", {} {}", FormatCount(left.count()), left.kind());
  }
  return text;
}

FullTable BuildSteps(const Run& run, const ReportOptions& options,
                     std::optional<std::size_t> enough) {
  ReportOptions how = options;
  how.step_rows = enough.value_or(std::numeric_limits<std::size_t>::max());
  FullTable full{BuildReportWithSteps(run, how), "", {}, 0, false};
  full.summary = StepsSummary(full.report);
  full.table = StepTable(full.report);
  full.rows = StepRowsThatThereAre(full.report);
  return full;
}

}  // namespace

int RunSteps(const std::vector<std::string>& arguments) {
  const TableCommand table{"analyze steps", kStepsAbout,   kStepsDefinitions,
                           kStepsExamples,  StepColumns(), BuildSteps};
  return RunTable({&table, 1}, arguments);
}

}  // namespace traceinject
