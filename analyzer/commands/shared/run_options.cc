// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/run_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/progress_bar.h"
#include "analyzer/commands/shared/terminal.h"
#include "analyzer/import/load/load_run.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/ranks/match/align_run.h"
#include "analyzer/report/layout/text_layout.h"

namespace traceinject {
namespace {

// Returns --steps.
CLI::Option* AddSteps(CLI::App& app, RunOptions& options) {
  app.add_option_function<std::string>(
         "--step-regex",
         [&options](const std::string& text) {
           auto parsed = StepPattern::Parse(text);
           if (!parsed.ok()) throw CLI::ValidationError("--step-regex", parsed.error());
           options.report.step_pattern = std::move(parsed).value();
         },
         "use the NVTX ranges whose names match this regular expression as steps")
      ->type_name("REGEX");
  return AddStepNumbers(
      app, options.report,
      "analyze only these steps of each GPU, as the program numbers them in its NVTX ranges "
      "(\"step 12\"), else counted from 1 over the whole recording");
}

Result<Run> Load(const RunOptions& options, const std::optional<EventTables>& tables) {
  ProgressBar bar(!options.no_progress);
  return LoadRun(
      options.paths,
      {.tables = tables, .on_progress = [&](const LoadProgress& progress) { bar.Show(progress); }});
}

// A moment at which the clock was set is found between all events around it, and clocks of hosts
// are aligned by what their ranks did together.
bool NeedsAllTables(const Run& run) {
  return IsOfSeveralHosts(run) ||
         std::any_of(run.ranks.begin(), run.ranks.end(),
                     [](const Rank& rank) { return !rank.trust.clock_steps.empty(); });
}

// Nothing was recorded: the recorder's own reason if it left one, else the checklist.
void ExplainEmptyRun(const Run& run, const RunOptions& options,
                     const std::function<std::string()>& checklist) {
  const std::string reasons = EmptyRunReasons(run);
  if (!reasons.empty()) {
    fmt::print(stderr, "{}", reasons);
    return;
  }
  fmt::print(stderr, "{}: the recording contains no GPU work.\n\n{}", options.paths.front(),
             checklist ? checklist() : MissingRunChecklist(options.paths));
}

}  // namespace

CLI::Option* AddStepNumbers(CLI::App& app, ReportOptions& report, const std::string& help) {
  return app
      .add_option_function<std::string>(
          "--steps",
          [&app, &report](const std::string& text) {
            const auto parsed = ParseNumberRange(text);
            if (!parsed.ok()) {
              const bool counts = app.get_option_no_throw("--step-count") != nullptr;
              throw CLI::ValidationError(
                  "--steps",
                  parsed.error() + (counts ? "; the number of steps is --step-count" : ""));
            }
            report.steps = StepChoice{parsed.value().first, parsed.value().last};
          },
          help)
      ->type_name("A..B");
}

void AddRunOptions(CLI::App& app, RunOptions& options) {
  app.add_option("run", options.paths,
                 "recordings (run.db, run.db.zst, a name that stands for run.rank*.db, or a "
                 "folder), PyTorch profiler traces (trace.json, trace.json.gz), Nsight Systems "
                 "exports (report.sqlite) or rocmProfileData traces (trace.rpd)")
      ->required();
  CLI::Option* from = AddTime(
      app, "--from", options.report.limits.from_ns,
      "leave out everything earlier; relative to the run's first GPU operation (1.5, 1.5s, 200ms)");
  CLI::Option* to = AddTime(app, "--to", options.report.limits.to_ns, "leave out everything later");
  AddSteps(app, options)->excludes(from)->excludes(to);
  AddOutput(app, options.output);
  app.add_flag("--no-progress", options.no_progress, "draw no progress bar");
}

void AddAllFlag(CLI::App& app, ReportOptions& report) {
  app.add_flag("--all", report.all,
               "figures of the whole recording, start-up included, instead of the steps that the "
               "verdict judges");
}

int ExplainNoSteps(const char* program, const Report& report) {
  for (const std::string& note : report.notes()) fmt::print(stderr, "{}\n", note);
  fmt::print(stderr, "{}: no GPU has the selected steps\n", program);
  return kBadUsage;
}

std::string NameOfRun(const std::vector<std::string>& paths) {
  constexpr std::size_t kMostPaths = 8;
  return paths.size() > kMostPaths ? "RUN" : fmt::format("{}", fmt::join(paths, " "));
}

RunOptions OnlyPath(RunOptions options, const std::string& path) {
  options.paths = {path};
  return options;
}

std::optional<int> ParseRunArguments(CLI::App& app, const std::vector<std::string>& arguments,
                                     const RunOptions& options) {
  if (const auto exit_code = ParseArguments(app, arguments)) return exit_code;
  const TimeLimits& limits = options.report.limits;
  if (limits.from_ns && limits.to_ns && *limits.from_ns >= *limits.to_ns) {
    fmt::print(stderr, "{}: --from must be earlier than --to\n", app.get_name());
    return kBadUsage;
  }
  return std::nullopt;
}

std::variant<Run, int> LoadOrExplain(const RunOptions& options,
                                     const std::function<std::string()>& checklist) {
  auto run = Load(options, options.tables);
  if (run.ok() && options.tables && NeedsAllTables(run.value())) run = Load(options, std::nullopt);
  if (!run.ok()) {
    fmt::print(stderr, "{}\n", run.error());
    if (!ResolveRunPaths(options.paths).ok())
      fmt::print(stderr, "\n{}", MissingRunChecklist(options.paths));
    return kUnreadable;
  }
  if (!HasGpuWork(run.value())) {
    ExplainEmptyRun(run.value(), options, checklist);
    return kUnreadable;
  }
  for (std::string& done : AlignRun(run.value())) run.value().notes.push_back(std::move(done));
  return std::move(run).value();
}

PageStyle StyleOf(const RunOptions& options) { return StyleFor(options.output); }

PageStyle StyleFor(const std::string& output) {
  return output == "-" ? StyleOn(STDOUT_FILENO) : PageStyle{kTextWidth, false};
}

PageStyle StyleOn(int descriptor) {
  const bool terminal = isatty(descriptor) == 1;
  std::optional<std::size_t> columns;
  if (terminal) columns = TerminalColumns(descriptor);
  if (!columns) columns = ColumnsAskedFor();
  return {std::clamp(columns.value_or(kTextWidth), kMinTextWidth, kMaxTextWidth),
          terminal && std::getenv("NO_COLOR") == nullptr};
}

}  // namespace traceinject
