// SPDX-License-Identifier: Apache-2.0
// As many arguments as any function that we wrap has, and more: all of 64 bits, which are passed as
// shorter ones are.
#pragma once

#include <cstdint>

using Argument = std::uint64_t;
inline constexpr int kArguments = 24;

#define FOR_EACH_ARGUMENT(F)                                                                     \
  F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), F(10), F(11), F(12), F(13), F(14), \
      F(15), F(16), F(17), F(18), F(19), F(20), F(21), F(22), F(23)
#define PARAMETER(i) Argument a##i
#define DECLARE_WITH_ARGUMENTS(name) extern "C" int name(FOR_EACH_ARGUMENT(PARAMETER))

// What the function that was called last got.
extern "C" Argument g_got[kArguments];
