// SPDX-License-Identifier: Apache-2.0
// The command line of a trial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "injector/counters/set_trial.h"

namespace traceinject {

inline constexpr char kTrialCommand[] = "try-counters";

inline std::vector<std::string> ToArguments(const TrialOf& trial) {
  return {kTrialCommand, trial.cupti, trial.chip, trial.set, std::to_string(trial.interval_ns)};
}

// The device is the only one that the trial sees. Nothing: this is no such command line.
inline std::optional<TrialOf> FromArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5 || arguments[0] != kTrialCommand) return std::nullopt;
  TrialOf trial{arguments[1], {}, arguments[2], arguments[3], 0};
  for (const char digit : arguments[4]) {
    if (digit < '0' || digit > '9' || trial.interval_ns > 1'000'000'000'000) return std::nullopt;
    trial.interval_ns = trial.interval_ns * 10 + (digit - '0');
  }
  return trial;
}

}  // namespace traceinject
