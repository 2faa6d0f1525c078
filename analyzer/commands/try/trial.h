// SPDX-License-Identifier: Apache-2.0
// One run of the program under `analyze try`: started, followed until it has done its steps, ended,
// and measured.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/commands/try/program_tree.h"
#include "analyzer/tries/tried_run.h"

namespace traceinject {

// While it lives, Ctrl-C and the like do not end this program but are told by Came(): what was
// started and written is cleared away first.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // Waits for one, or for a child to end, but not long.
  void Wait();
  bool Came();
  int number() const { return number_; }  // of the signal; 0: none came

 private:
  sigset_t waited_, before_;
  int number_ = 0;
};

struct TrialSettings {
  std::vector<std::string> program;
  std::string folder;                           // that it runs in; empty: this one
  std::string library;                          // libtraceinject.so
  std::map<std::string, std::string> recorder;  // TRACEINJECT_... variables
  std::string scratch;                          // folder for what a run leaves
  std::size_t steps = 60, warm_up = 20;
};

struct Trial {
  enum class End { kMeasured, kFailed, kOutOfMemory, kHung, kInterrupted };
  End end = End::kFailed;
  std::string reason;           // of other ends than kMeasured, in a sentence
  std::optional<TriedRun> run;  // of kMeasured
  std::vector<std::string> recordings;
  std::chrono::duration<double> time{};  // that it took
  int exit_code = 0;
};

using TrialProgress =
    std::function<void(std::optional<std::int64_t> steps, std::chrono::duration<double> time)>;

// `tried`: as in TRACEINJECT_TRY; empty: the program as it is. `name`: of its files in the scratch
// folder. No longer than `limit`. `on_progress` is called some times a second.
Trial RunTrial(const TrialSettings& settings, const std::string& tried, const std::string& name,
               std::chrono::duration<double> limit, Interruption& interruption,
               const TrialProgress& on_progress);

// The last lines of what the program printed.
std::string LastLines(const TrialSettings& settings, const std::string& name, std::size_t count);

}  // namespace traceinject
