// SPDX-License-Identifier: Apache-2.0
// The program `analyze`: finds the subcommand and runs it. Data goes to stdout, talk to stderr.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

enum ExitCode : int {
  kReported = 0,
  kGateFailed = 1,
  kBadUsage = 2,
  kUnreadable = 3,
};

struct Command {
  std::string_view name;
  std::string_view help;  // one line
  int (*run)(const std::vector<std::string>&
                 arguments);  // without the command's name; returns an ExitCode
};

std::span<const Command> Commands();

// What `analyze --help` prints.
std::string HelpText();

// `arguments`: without the name of the program. Returns the exit code.
int Analyze(const std::vector<std::string>& arguments);

// The subcommands, one file each.
int RunReport(const std::vector<std::string>& arguments);
int RunKernels(const std::vector<std::string>& arguments);
int RunGaps(const std::vector<std::string>& arguments);
int RunSteps(const std::vector<std::string>& arguments);
int RunComm(const std::vector<std::string>& arguments);
int RunNvtx(const std::vector<std::string>& arguments);
int RunMemory(const std::vector<std::string>& arguments);
int RunData(const std::vector<std::string>& arguments);
int RunSummarize(const std::vector<std::string>& arguments);
int RunRanks(const std::vector<std::string>& arguments);
int RunCollectives(const std::vector<std::string>& arguments);
int RunCombine(const std::vector<std::string>& arguments);
int RunMerge(const std::vector<std::string>& arguments);
int RunDiff(const std::vector<std::string>& arguments);
int RunGate(const std::vector<std::string>& arguments);
int RunImport(const std::vector<std::string>& arguments);
int RunInfo(const std::vector<std::string>& arguments);
int RunExport(const std::vector<std::string>& arguments);
int RunServe(const std::vector<std::string>& arguments);
int RunSql(const std::vector<std::string>& arguments);
int RunHtml(const std::vector<std::string>& arguments);
int RunDoctor(const std::vector<std::string>& arguments);
int RunPreload(const std::vector<std::string>& arguments);
int RunWatch(const std::vector<std::string>& arguments);
int RunRecord(const std::vector<std::string>& arguments);
int RunTrigger(const std::vector<std::string>& arguments);

}  // namespace traceinject
