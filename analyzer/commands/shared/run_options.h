// SPDX-License-Identifier: Apache-2.0
// What the commands that report on a run share: which recordings, which part of them, where the
// output goes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analyzer/commands/shared/arguments.h"
#include "analyzer/import/source/recorded_file.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct RunOptions {
  std::vector<std::string> paths;
  ReportOptions report;
  std::optional<EventTables> tables = std::nullopt;  // as LoadOptions::tables
  std::string output = "-";
  bool no_progress = false;
};

// The recordings, --from, --to, --steps, --step-regex, -o and --no-progress.
void AddRunOptions(CLI::App& app, RunOptions& options);

// --steps alone.
CLI::Option* AddStepNumbers(CLI::App& app, ReportOptions& report, const std::string& help);

// --all, for commands whose figures are of judged steps.
void AddAllFlag(CLI::App& app, ReportOptions& report);

// Whether --steps left nothing to report on. Then ExplainNoSteps() says so on stderr, and gives the
// exit code.
inline bool LacksSteps(const ReportOptions& options, const Report& report) {
  return options.steps.has_value() && report.devices().empty();
}
int ExplainNoSteps(const char* program, const Report& report);

// What stands for the recordings in commands that are shown: their paths, or RUN for very many.
std::string NameOfRun(const std::vector<std::string>& paths);

// The same options for the run of one path.
RunOptions OnlyPath(RunOptions options, const std::string& path);

// ParseArguments(), with what these options require of each other.
std::optional<int> ParseRunArguments(CLI::App& app, const std::vector<std::string>& arguments,
                                     const RunOptions& options);

// The run, or the exit code: why there is none was told on stderr. `checklist`: what to say where
// the recorder left no reason for a recording without GPU work; null: MissingRunChecklist(). All
// tables are read where those asked for would not have the same times without the others.
std::variant<Run, int> LoadOrExplain(const RunOptions& options,
                                     const std::function<std::string()>& checklist = nullptr);

// Columns for sentences, and whether to use color: those of the terminal that the output goes to.
struct PageStyle {
  std::size_t width = 0;
  bool color = false;
};
PageStyle StyleOf(const RunOptions& options);
// Of text that goes to `output`, a path or "-".
PageStyle StyleFor(const std::string& output);
// Of text that goes to a file descriptor.
PageStyle StyleOn(int descriptor);

}  // namespace traceinject
