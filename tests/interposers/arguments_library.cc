// SPDX-License-Identifier: Apache-2.0
// What is wrapped: keeps the arguments.
#include <algorithm>

#include "tests/interposers/arguments.h"

__attribute__((visibility("default"))) Argument g_got[kArguments];

#define NAME(i) a##i
#define F(name, mask)                                               \
  extern "C" __attribute__((visibility("default"))) DECLARED(name); \
  int name(FOR_EACH_ARGUMENT(PARAMETER)) {                          \
    const Argument got[kArguments] = {FOR_EACH_ARGUMENT(NAME)};     \
    std::copy_n(got, kArguments, g_got);                            \
    return 7;                                                       \
  }
#define DECLARED(name) int name(FOR_EACH_ARGUMENT(PARAMETER))
#include "signatures.h"
