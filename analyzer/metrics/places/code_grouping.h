// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace traceinject {

// What a row about the program's code is of.
enum class CodeGrouping : std::uint8_t { kLine, kFunction, kThread };

}  // namespace traceinject
