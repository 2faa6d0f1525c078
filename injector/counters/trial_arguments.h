// SPDX-License-Identifier: Apache-2.0
// The command line of a trial.
#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "injector/counters/set_trial.h"

namespace traceinject {

inline constexpr char kTrialCommand[] = "try-counters";

inline std::vector<std::string> ToArguments(const TrialOf& trial) {
  return {kTrialCommand, trial.cupti, trial.chip, std::to_string(trial.set),
          std::to_string(trial.interval_ns)};
}

// The device is the only one that the trial sees. Nothing: this is no such command line.
inline std::optional<TrialOf> FromArguments(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5 || arguments[0] != kTrialCommand) return std::nullopt;
  TrialOf trial{arguments[1], {}, arguments[2], 0, 0};
  const auto read = [](const std::string& text, auto* number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size() && *number >= 0;
  };
  if (!read(arguments[3], &trial.set) || !read(arguments[4], &trial.interval_ns))
    return std::nullopt;
  return trial;
}

}  // namespace traceinject
