// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/text/text_hang.h"

namespace traceinject {
namespace {

constexpr char kHangProgram[] = "analyze hang";
constexpr char kHangExamples[] =
    "Stacks of Python are those taken when a process was seen to stall (TRACEINJECT_STALL), or the "
    "last\n"
    "ones before its recording ended. Processes with equal stacks are one line: the program's own "
    "code,\n"
    "innermost first, in parentheses what it called of a library.\n\n"
    "Examples:\n"
    "  analyze hang run.db                  every rank's main thread; run.db stands for "
    "run.rank*.db too\n"
    "  analyze hang run.db --full-stacks    all threads, all frames\n"
    "  analyze hang run.db --format json    Report.last_stacks of report.proto\n";

struct HangCommand {
  RunOptions run;
  std::string format = "text";
  bool full_stacks = false;
};

}  // namespace

int RunHang(const std::vector<std::string>& arguments) {
  HangCommand options;
  CLI::App app("Where each rank's threads stood when the run hung or ended, and what stalled.",
               kHangProgram);
  app.footer(kHangExamples);
  AddRunOptions(app, options.run);
  app.add_flag("--full-stacks", options.full_stacks, "all threads, with the frames of libraries");
  app.add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  if (const auto exit_code = ParseRunArguments(app, arguments, options.run)) return *exit_code;
  const auto run = LoadOrExplain(options.run);
  if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
  options.run.report.last_stacks = true;
  const Report report = BuildReport(std::get<Run>(run), options.run.report);
  if (options.format == "text") {
    const PageStyle style = StyleOf(options.run);
    return WriteOrExplain(
        kHangProgram, options.run.output,
        WriteHangText(report, {.width = style.width, .color = style.color}, options.full_stacks));
  }
  const Result<std::string> text = WriteJson(report);
  if (text.ok()) return WriteOrExplain(kHangProgram, options.run.output, text.value());
  fmt::print(stderr, "{}: {}\n", kHangProgram, text.error());
  return kUnreadable;
}

}  // namespace traceinject
