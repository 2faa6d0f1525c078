// SPDX-License-Identifier: Apache-2.0
// Patterns over kernel names: all that the rules about names need. std::regex would take
// milliseconds to compile and recurses on long names.
//
// Patterns are alternatives separated by '|'. In an alternative
//   *       stands for any characters,
//   ^ first anchors to the start of the name,
//   < first demands that no lower case letter stands before it,
//   !x last demands that x does not follow.
#pragma once

#include <string_view>

namespace traceinject {

// Whether one of the alternatives occurs in the name. O(name x patterns).
bool MatchesAny(std::string_view name, std::string_view patterns);

// Kernels of NCCL, and of RCCL, which keeps their names.
inline bool IsNcclKernelName(std::string_view name) { return MatchesAny(name, "nccl"); }

}  // namespace traceinject
