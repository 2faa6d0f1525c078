// SPDX-License-Identifier: Apache-2.0
// What reads bytes that others wrote, and what must hold whatever they are.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace traceinject {

struct FuzzTarget {
  std::string_view name;
  std::string_view what;  // it reads
  // What is wrong with what came of the input, a line each; empty: nothing. It may throw or crash
  // as well, which is wrong in any case.
  std::string (*run)(std::string_view input);
  std::size_t most_bytes = 4096;  // of an input
};

// Those of the program: of analyze (reader_targets.cc), or of libtraceinject.so (guest_targets.cc).
std::span<const FuzzTarget> FuzzTargets();

// Null: there is none.
const FuzzTarget* FindFuzzTarget(std::string_view name);

}  // namespace traceinject
