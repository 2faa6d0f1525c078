// SPDX-License-Identifier: Apache-2.0
// Calls each function twice, as a caller is looked up at its first call. Returns how many calls did
// not return what the library does.
#include "wrapped_functions.h"

#define DECLARE(name) extern "C" int name();
FUNCTIONS(DECLARE)

extern "C" __attribute__((visibility("default"))) int CallAll() {
  int wrong = 0;
#define CALL(name) \
  for (int i = 0; i < 2; ++i) wrong += name() == 7 ? 0 : 1;
  FUNCTIONS(CALL)
  return wrong;
}
