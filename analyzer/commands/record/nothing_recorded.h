// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace traceinject {

struct UnrecordedProgram {
  std::string output;  // where the recording would be
  std::string window;  // TRACEINJECT_WINDOW; empty: all of the run
  int exit_code = 0;   // as a shell gives it
};

// Why a program that ran with the library preloaded left no recording: what this machine tells,
// then what is left, the most frequent first, each with what to do.
std::string NothingRecordedText(const UnrecordedProgram& program);

}  // namespace traceinject
