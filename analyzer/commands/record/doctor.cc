// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>

#include "analyzer/commands/record/environment_variable.h"
#include "analyzer/commands/record/preload.h"
#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/common/json_text.h"
#include "analyzer/doctor/container_checks.h"
#include "analyzer/doctor/machine_lines.h"
#include "analyzer/doctor/output_folder.h"
#include "analyzer/doctor/present_machine.h"
#include "analyzer/doctor/recording_checks.h"
#include "analyzer/doctor/write_checklist.h"

namespace traceinject {
namespace {

constexpr char kDoctorProgram[] = "analyze doctor";

void Append(Checklist more, Checklist& lines) {
  std::move(more.begin(), more.end(), std::back_inserter(lines));
}

Checklist Examine(const std::string& root) {
  const PresentMachine machine = LookAtMachine(root, environ);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto library = FindPreloadLibrary(program.parent_path().string(),
                                          EnvironmentVariable("TRACEINJECT_LIBRARY"));
  Checklist lines = CheckDriver(machine);
  lines.push_back(CheckCupti(machine));
  if (library.ok()) {
    lines.push_back({CheckStatus::kOk, "recording library", library.value(), {}, {}});
  } else {
    lines.push_back({CheckStatus::kFail, "recording library", "libtraceinject.so was not found",
                     "analyze preload lists the paths searched and how to build it",
                     "README.md, Install"});
  }
  Append(CheckEntrances(machine.facts, library.ok() ? library.value() : ""), lines);
  Append(CheckPreloaded(machine.facts), lines);
  Append(CheckCounters(machine, root), lines);
  const std::string output = EnvironmentVariable("TRACEINJECT_OUTPUT", "run.db"),
                    spool = EnvironmentVariable("TRACEINJECT_SPOOL");
  Append(CheckOutputFolder(output, spool), lines);
  Append(CheckContainer(root, machine.facts, KnownFolder(output)), lines);
  Append(CheckPresentMachine(machine), lines);
  return lines;
}

std::string AsJson(const Checklist& lines) {
  std::string text = "[";
  for (const CheckLine& line : lines) {
    text += fmt::format(
        "{}\n{{\"status\": {}, \"check\": {}, \"text\": {}, \"change\": {}, \"source\": {}}}",
        text.size() > 1 ? "," : "", JsonString(CheckStatusName(line.status)),
        JsonString(line.check), JsonString(line.text), JsonString(line.change),
        JsonString(line.source));
  }
  return text + "\n]\n";
}

}  // namespace

int RunDoctor(const std::vector<std::string>& arguments) {
  std::string format = "text", output = "-", root;
  CLI::App app(
      "Checks this machine without a run: whether one could be recorded, and what would slow it "
      "down.",
      kDoctorProgram);
  app.footer(
      "Examples:\n"
      "  analyze doctor                                     in the shell or job that will train\n"
      "  TRACEINJECT_OUTPUT=/results/run.db analyze doctor  with the recording's settings\n"
      "  analyze doctor --format json                       as JSON\n\n"
      "Exit code 1 if a check fails. What is unknown, or shows only under load, is not a "
      "failure.\n");
  app.add_option("--format", format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  // For tests: stands before /proc and /sys.
  app.add_option("--root", root)->group("");
  AddOutput(app, output);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  const Checklist lines = Examine(root);
  const PageStyle style = StyleFor(output);
  TextPage page(style.color, style.width);
  WriteChecklist(lines, page);
  const int written =
      WriteOrExplain(kDoctorProgram, output, format == "json" ? AsJson(lines) : page.text());
  return written == kReported && HasFailed(lines) ? kGateFailed : written;
}

}  // namespace traceinject
