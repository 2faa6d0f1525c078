// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "analyzer/commands/record/child_program.h"
#include "analyzer/commands/record/environment_variable.h"
#include "analyzer/commands/record/new_recordings.h"
#include "analyzer/commands/record/nothing_recorded.h"
#include "analyzer/commands/record/preload.h"
#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/record/recorder_options.h"
#include "analyzer/commands/record/status_line.h"
#include "analyzer/commands/record/steps_so_far.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/common/units.h"
#include "analyzer/import/open/writer_lock.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kRecordProgram[] = "analyze record";
constexpr char kOutput[] = "TRACEINJECT_OUTPUT";
// Processes that the program left behind may write for as long as they like.
constexpr int kLongestWait_s = 30;

struct RecordOptions {
  std::string output;
  std::map<std::string, std::string> recorder;  // variables
  std::vector<std::string> program;
  bool whole_report = false, no_report = false, no_progress = false;
};

void DescribeRecord(CLI::App& app, RecordOptions& options) {
  app.footer(
      "Examples:\n"
      "  analyze record -- python train.py\n"
      "  analyze record -o /results/run.db -- torchrun --nproc-per-node 8 train.py\n"
      "  analyze record --window steps:100-120 -- python train.py   only these optimizer steps\n"
      "  analyze record --keep-last 10m --max-size 2G -- python train.py   a flight recorder\n\n"
      "The program's output, signals and exit code are unchanged; messages go to stderr. Ctrl-C "
      "ends the program,\n"
      "and the report follows.\n");
  app.add_option("-o,--output", options.output,
                 "the recording, as TRACEINJECT_OUTPUT (default run.db)")
      ->type_name("FILE");
  app.add_flag("--report", options.whole_report, "print the full report at the end");
  app.add_flag("--no-report", options.no_report, "skip the verdict")->excludes("--report");
  app.add_flag("--no-progress", options.no_progress, "disable the progress line");
  AddRecorderOptions(app, options.recorder);
  app.add_option(
      "program", options.program,
      "the program to run and its arguments, after --: torchrun --nproc-per-node 8 train.py");
}

// "1:02:03".
std::string ClockText(std::chrono::steady_clock::duration time) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

// "3 steps, ".
std::string StepsDone(std::optional<std::int64_t> steps) {
  return steps ? Plural(*steps, "step") + ", " : "";
}

std::string Progress(std::chrono::steady_clock::duration elapsed,
                     const std::vector<std::string>& recordings, StepsSoFar& steps) {
  if (recordings.empty()) return fmt::format("recording {}: no GPU work yet", ClockText(elapsed));
  return fmt::format(
      "recording {}: {}{} of {}", ClockText(elapsed), StepsDone(steps.Count(recordings)),
      FormatBytes(BytesOf(recordings)),
      recordings.size() == 1 ? "1 process" : fmt::format("{} processes", recordings.size()));
}

bool AreComplete(const std::vector<std::string>& recordings) {
  return std::none_of(recordings.begin(), recordings.end(), HasWriter);
}

void Say(const std::string& text) { fmt::print(stderr, "{}: {}\n", kRecordProgram, text); }

// What the recordings are called for those who name them again: one name for all ranks.
std::string NameOf(const std::vector<std::string>& recordings, const std::string& output) {
  if (recordings.size() == 1) return recordings.front();
  const bool stands_for_all = output.find('%') == std::string::npos;
  return stands_for_all ? fmt::format("{} ({} processes)", output, recordings.size())
                        : fmt::format("{}", fmt::join(recordings, " "));
}

std::string WhyNothing(const ChildProgram& program, const RecordOptions& options) {
  const auto window = options.recorder.find("TRACEINJECT_WINDOW");
  return NothingRecordedText({.output = options.output,
                              .window = window != options.recorder.end()
                                            ? window->second
                                            : EnvironmentVariable("TRACEINJECT_WINDOW"),
                              .exit_code = program.exit_code()});
}

void Report(const std::vector<std::string>& recordings, const ChildProgram& program,
            const RecordOptions& options) {
  RunOptions run_options;
  run_options.paths = recordings;
  run_options.no_progress = options.no_progress;
  const auto run = LoadOrExplain(run_options, [&] { return WhyNothing(program, options); });
  if (std::holds_alternative<int>(run)) return;
  const traceinject::Report report = BuildReportWithVerdict(std::get<Run>(run), {});
  TextOptions text;
  const PageStyle style = StyleOn(STDERR_FILENO);
  text.width = style.width;
  text.color = style.color;
  text.full = options.whole_report;
  fmt::print(stderr, "{}",
             options.whole_report ? WriteText(report, text) : WriteVerdictText(report, text));
}

// After the end of the program.
void Conclude(ChildProgram& program, const NewRecordings& recordings,
              const RecordOptions& options) {
  const bool complete =
      program.WaitFor([&] { return AreComplete(recordings.Find()); }, kLongestWait_s);
  program.LetGo();
  const std::vector<std::string> found = recordings.Find();
  if (found.empty()) {
    Say("nothing was recorded.\n\n" + WhyNothing(program, options));
    return;
  }
  Say(fmt::format("recorded {} in {}{}", FormatBytes(BytesOf(found)), NameOf(found, options.output),
                  complete ? "" : "; a process started by the program is still writing to it"));
  if (!options.no_report) Report(found, program, options);
}

int Record(RecordOptions& options) {
  std::error_code error;
  const fs::path own_path = fs::read_symlink("/proc/self/exe", error);
  const auto library = FindPreloadLibrary(own_path.parent_path().string(),
                                          EnvironmentVariable("TRACEINJECT_LIBRARY"));
  if (!library.ok()) {
    Say(library.error());
    return kUnreadable;
  }
  // Absolute: the program may go to other folders.
  if (options.output.empty()) options.output = EnvironmentVariable(kOutput);
  if (options.output.empty()) options.output = "run.db";
  options.output = fs::absolute(options.output, error).lexically_normal().string();
  options.recorder[kOutput] = options.output;

  const NewRecordings recordings(options.output);
  ChildProgram program;
  const Status started =
      program.Start(options.program,
                    RecordedEnvironment(EnvironmentEntries(), options.recorder, library.value()));
  if (!started.ok()) {
    Say(started.error());
    return program.exit_code();
  }
  const auto start = std::chrono::steady_clock::now();
  StatusLine line(!options.no_progress);
  StepsSoFar steps;
  program.Wait([&] {
    if (line.active())
      line.Show(Progress(std::chrono::steady_clock::now() - start, recordings.Find(), steps));
  });
  line.Release();
  Conclude(program, recordings, options);
  return program.exit_code();
}

}  // namespace

int RunRecord(const std::vector<std::string>& arguments) {
  RecordOptions options;
  CLI::App app("Runs a program, records it, and reports what limits it.", kRecordProgram);
  DescribeRecord(app, options);
  std::vector<std::string> own = arguments;
  const std::vector<std::string> program = TakeProgram(own);
  if (const auto exit_code = ParseArguments(app, own)) return *exit_code;
  options.program.insert(options.program.end(), program.begin(), program.end());
  if (options.program.empty()) {
    fmt::print(stderr, "{}: name the program after --, as in: {} -- python train.py\n",
               kRecordProgram, kRecordProgram);
    return kBadUsage;
  }
  return Record(options);
}

}  // namespace traceinject
