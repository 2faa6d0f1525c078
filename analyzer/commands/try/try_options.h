// SPDX-License-Identifier: Apache-2.0
// What `analyze try` was asked for.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/commands/try/trial.h"
#include "analyzer/tries/plan.h"

namespace traceinject {

inline constexpr char kTryProgram[] = "analyze try";

struct TryOptions {
  TrialSettings trial;
  TryChoice choice;
  std::size_t repeats = 3;
  double timeout_s = 1800;
  std::vector<std::string> from;
  std::string output = "tries", format = "text", html;
  bool keep = false, no_progress = false, levers = false;
};

void DescribeTry(CLI::App& app, TryOptions& options);

// On standard error, with the name of the program in front.
void SayInTry(const std::string& text);

}  // namespace traceinject
