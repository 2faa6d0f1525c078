// SPDX-License-Identifier: Apache-2.0
// What is wrapped: DEFINED_FUNCTIONS, which do nothing. Arguments are passed on by nobody here.
#include "tests/interposers/called.h"
#include "wrapped_functions.h"

#define DEFINE(name)                                             \
  extern "C" __attribute__((visibility("default"))) int name() { \
    traceinject::interposers::Called(TAG, #name);                \
    return 7;                                                    \
  }
DEFINED_FUNCTIONS(DEFINE)
