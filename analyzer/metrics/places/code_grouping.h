// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace traceinject {

// What a row about the program's code is of.
enum class CodeGrouping : std::uint8_t {
  kLine,
  kFunction,
  kThread,
  kModules,    // of PyTorch; those whose names differ in numbers alone together
  kEachModule  // each for itself
};

inline bool IsOfModules(CodeGrouping grouping) { return grouping >= CodeGrouping::kModules; }

}  // namespace traceinject
