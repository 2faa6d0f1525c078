// SPDX-License-Identifier: Apache-2.0
// Looks for each function as programs do that want to know whether there is CUDA, and prints what
// it answers; -1: it is not there.
#include <dlfcn.h>

#include <cstdio>

#include "wrapped_functions.h"

int main() {
#define ASK(name)                                                             \
  {                                                                           \
    auto* function = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, #name)); \
    std::printf("%s %d\n", #name, function != nullptr ? function() : -1);     \
  }
  FUNCTIONS(ASK)
}
