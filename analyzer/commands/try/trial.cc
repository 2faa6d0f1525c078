// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/trial.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>

#include "analyzer/commands/record/environment_variable.h"
#include "analyzer/commands/record/new_recordings.h"
#include "analyzer/commands/record/recorder_options.h"
#include "analyzer/commands/record/steps_so_far.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/import/load/load_run.h"
#include "injector/options/try_list.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kPreload = "LD_PRELOAD", kNoMemory[] = {"out of memory", "OutOfMemory"};
// Of its output, where a program that failed says why.
constexpr std::size_t kTail = 40;

std::string LogOf(const TrialSettings& settings, const std::string& name) {
  return settings.scratch + "/" + name + ".log";
}

// Where the linker finds it by name.
std::string LibraryOf(const std::string& allocator) {
  if (allocator.find('/') != std::string::npos) return allocator;
  if (allocator == "jemalloc") return "libjemalloc.so.2";
  if (allocator == "tcmalloc") return "libtcmalloc_minimal.so.4";
  return allocator;
}

// Libraries to preload beside ours, with a colon before each.
std::string PreloadedBy(const std::string& tried) {
  std::vector<TryWish> wishes;
  std::string libraries;
  if (!ParseTryList(tried, &wishes)) return libraries;
  for (const TryWish& wish : wishes) {
    const TryLever* const lever = FindTryLever(wish.lever);
    if (lever != nullptr && lever->by == TryBy::kPreload) libraries += ":" + LibraryOf(wish.value);
  }
  return libraries;
}

std::vector<std::string> EnvironmentOf(const TrialSettings& settings, const std::string& tried,
                                       const std::string& name) {
  std::map<std::string, std::string> values = settings.recorder;
  values["TRACEINJECT_OUTPUT"] = settings.scratch + "/" + name + ".db";
  values["TRACEINJECT_TRY"] = fmt::format("{}{}losses=1,diff=1,save_folder={}/{}.saved", tried,
                                          tried.empty() ? "" : ",", settings.scratch, name);
  return RecordedEnvironment(EnvironmentEntries(), values, settings.library + PreloadedBy(tried));
}

// Why the program ended by itself with an error.
void Explain(const TrialSettings& settings, const std::string& name, Trial& trial) {
  const std::string text = LastLines(settings, name, kTail);
  const bool no_memory =
      std::any_of(std::begin(kNoMemory), std::end(kNoMemory),
                  [&](std::string_view words) { return text.find(words) != std::string::npos; });
  trial.end = no_memory ? Trial::End::kOutOfMemory : Trial::End::kFailed;
  std::string last = LastLines(settings, name, 1);
  trial.reason = fmt::format("it ended with exit code {}{}", trial.exit_code,
                             last.empty() ? "" : ": " + std::move(last));
}

void Measure(const TrialSettings& settings, Trial& trial) {
  if (trial.recordings.empty()) {
    trial.end = Trial::End::kFailed;
    trial.reason = "nothing was recorded: analyze record says why";
    return;
  }
  const Result<Run> run = LoadRun(trial.recordings, {});
  if (!run.ok()) {
    trial.reason = run.error();
    return;
  }
  Result<TriedRun> measured = MeasureTry(run.value(), settings.warm_up);
  if (!measured.ok()) {
    trial.reason = measured.error();
    return;
  }
  trial.end = Trial::End::kMeasured;
  trial.run = std::move(measured).value();
}

}  // namespace

Interruption::Interruption() {
  sigemptyset(&waited_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) sigaddset(&waited_, number);
  sigprocmask(SIG_BLOCK, &waited_, &before_);
}

Interruption::~Interruption() {
  const timespec none = {};
  while (sigtimedwait(&waited_, nullptr, &none) > 0) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::Wait() {
  const timespec moment = {0, 100'000'000};
  const int number = sigtimedwait(&waited_, nullptr, &moment);
  if (number > 0 && number != SIGCHLD && number_ == 0) number_ = number;
}

bool Interruption::Came() {
  const timespec none = {};
  for (int number = sigtimedwait(&waited_, nullptr, &none); number > 0;
       number = sigtimedwait(&waited_, nullptr, &none)) {
    if (number != SIGCHLD && number_ == 0) number_ = number;
  }
  return number_ != 0;
}

std::string LastLines(const TrialSettings& settings, const std::string& name, std::size_t count) {
  std::ifstream file(LogOf(settings, name));
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    lines.push_back(Printable(line));
    if (lines.size() > count) lines.pop_front();
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

Trial RunTrial(const TrialSettings& settings, const std::string& tried, const std::string& name,
               std::chrono::duration<double> limit, Interruption& interruption,
               const TrialProgress& on_progress) {
  Trial trial;
  ProgramTree tree;
  const NewRecordings recordings(settings.scratch + "/" + name + ".db");
  const Status started = tree.Start({settings.program, EnvironmentOf(settings, tried, name),
                                     settings.folder, LogOf(settings, name)});
  if (!started.ok()) {
    trial.reason = started.error();
    return trial;
  }
  const auto begin = Clock::now();
  const auto wanted = static_cast<std::int64_t>(settings.warm_up + settings.steps + 1);
  StepsSoFar steps;
  bool ended_itself = false, was_late = false;
  for (bool is_done = false; !is_done && !interruption.Came();) {
    interruption.Wait();
    ended_itself = !tree.IsRunning();
    const std::optional<std::int64_t> done = steps.Count(recordings.Find());
    trial.time = Clock::now() - begin;
    was_late = trial.time > limit;
    is_done = ended_itself || was_late || done.value_or(0) >= wanted;
    on_progress(done, trial.time);
  }
  tree.End();
  trial.recordings = recordings.Find();
  trial.exit_code = tree.exit_code();
  if (interruption.Came()) {
    trial.end = Trial::End::kInterrupted;
    return trial;
  }
  if (ended_itself && trial.exit_code != 0) {
    Explain(settings, name, trial);
    return trial;
  }
  Measure(settings, trial);
  if (was_late && trial.end != Trial::End::kMeasured) {
    trial.end = Trial::End::kHung;
    trial.reason = fmt::format("ended after {:.0f} s: {}", trial.time.count(), trial.reason);
  }
  return trial;
}

}  // namespace traceinject
