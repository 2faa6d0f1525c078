// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/trigger.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/record/recording_processes.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/source/new_file.h"

namespace traceinject {
namespace {

constexpr char kTriggerProgram[] = "analyze trigger";
// Ranks look that often (injector/recorder/window_follower.cc), each at a time of its own: so the
// last one records for as long as was asked for, too.
constexpr std::int64_t kLookNs = 2'000'000'000;

// Whether there is a recorder that would see an order, or was.
bool IsRecorded(const std::string& run) {
  std::error_code error;
  return ResolveRunPaths({run}).ok() || std::filesystem::exists(TriggerPathOf(run), error) ||
         HasRecordingProcess(run);
}

std::int64_t Now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string TriggerPathOf(const std::string& run) { return run + ".trigger"; }

Status WriteTrigger(const std::string& path, const std::string& order) {
  // As a whole: the recorder never sees half of it.
  if (WriteWhole(path, order + "\n").error == 0) return Done{};
  return Error{
      fmt::format("{}: cannot write; the recording's folder must exist and be writable", path)};
}

int RunTrigger(const std::vector<std::string>& arguments) {
  CLI::App app("Starts and stops recording while the program runs.", kTriggerProgram);
  std::string order, run = "run.db";
  std::optional<std::int64_t> for_ns;
  app.add_option("ORDER", order, "start, stop, auto (follow TRACEINJECT_WINDOW) or status")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "auto", "status"}));
  app.add_option("RUN", run,
                 "the recording, as given in TRACEINJECT_OUTPUT (default run.db); applies to all "
                 "ranks recording to it");
  bool force = false;
  app.add_flag("--force", force, "write the command even if no program is seen to record to RUN");
  AddTime(app, "--for", for_ns, "with start: stop after this time, such as 10s");
  app.footer(
      "Every rank checks the file RUN.trigger every 2 seconds, or every 10 seconds if "
      "TRACEINJECT_WINDOW is not set and no command was given yet. The file must be owned by the "
      "run's user or by root.\n\n"
      "Examples:\n"
      "  TRACEINJECT_WINDOW=trigger LD_PRELOAD=$(analyze preload) python train.py &\n"
      "  analyze trigger start run.db --for 10s\n");
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (for_ns && order != "start") {
    fmt::print(stderr, "{}: --for requires start\n", kTriggerProgram);
    return kBadUsage;
  }
  const std::string path = TriggerPathOf(run);
  if (order == "status") {
    std::ifstream file(path);
    std::string line;
    const bool there = static_cast<bool>(std::getline(file, line));
    fmt::print("{}: {}\n", path, there ? line : "none: recording follows TRACEINJECT_WINDOW");
    return kReported;
  }
  if (!force && !IsRecorded(run)) {
    fmt::print(
        stderr,
        "{}: no program records to {}, so nobody would see the command: name it as in "
        "TRACEINJECT_OUTPUT. For a program on another machine that has recorded nothing yet, "
        "add --force\n",
        kTriggerProgram, run);
    return kBadUsage;
  }
  if (for_ns) order = fmt::format("start until {}", Now_ns() + kLookNs + *for_ns);
  const Status written = WriteTrigger(path, order);
  if (!written.ok()) {
    fmt::print(stderr, "{}: {}\n", kTriggerProgram, written.error());
    return kUnreadable;
  }
  fmt::print("{}: {}\n", path, order);
  return kReported;
}

}  // namespace traceinject
