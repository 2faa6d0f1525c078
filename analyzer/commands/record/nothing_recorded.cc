// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/nothing_recorded.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "analyzer/commands/record/variable.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/doctor/output_folder.h"
#include "analyzer/doctor/present_machine.h"
#include "analyzer/doctor/recording_checks.h"
#include "injector/options/options.h"

namespace traceinject {
namespace {

constexpr char kLeft[] =
    "Other possible reasons, most common first:\n"
    "  - The program did no GPU work: the file appears with its first GPU operation. Can it see a "
    "GPU? python -c \"import torch;\n"
    "    print(torch.cuda.is_available())\"\n"
    "  - The GPU is used elsewhere: containers, sudo, ssh and srun to other nodes do not pass "
    "LD_PRELOAD on.\n"
    "    Put analyze record inside: srun analyze record -- python train.py\n"
    "  - The program is linked statically or with another C library (musl): nothing can be "
    "preloaded into it.\n";

// What is amiss on this machine was so for the program as well.
std::string ChecksNotPassed(const std::string& output) {
  const PresentMachine machine = LookAtMachine("", environ);
  Checklist lines = CheckDriver(machine);
  lines.push_back(CheckCupti(machine));
  const Checklist folder = CheckOutputFolder(output, Variable("TRACEINJECT_SPOOL"));
  lines.insert(lines.end(), folder.begin(), folder.end());
  std::string text;
  for (const CheckLine& line : lines) {
    if (line.status != CheckStatus::kFail && line.status != CheckStatus::kWarn) continue;
    text += fmt::format("{}: {}\n", line.check, line.text);
    if (!line.change.empty()) text += fmt::format("  {}\n", line.change);
  }
  return text;
}

}  // namespace

std::string NothingRecordedText(const UnrecordedProgram& program) {
  std::string text;
  if (program.exit_code != 0)
    text +=
        fmt::format("The program ended with exit code {}: it may have exited before using a GPU.\n",
                    program.exit_code);
  if (!program.window.empty())
    text += fmt::format(
        "Only the window {} was set to be recorded: the program may have ended before it.\n",
        program.window);
  if (IsSwitchedOff("TRACEINJECT"))
    text += "TRACEINJECT=0 is set, which turns the library off: unset it.\n";
  text += ChecksNotPassed(program.output);
  return text + kLeft + "analyze doctor checks this machine.\n" +
         NearbyRecordings({std::filesystem::proximate(program.output).string()});
}

}  // namespace traceinject
