// SPDX-License-Identifier: Apache-2.0
// Stands in front of what we replace of the C library: answers one variable itself, and writes down
// by which function a process ends.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "tests/interposers/called.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

[[noreturn]] void Leave(const char* function, int status) {
  traceinject::interposers::Called(TAG, function);
  Next<void(int)>(function)(status);
  __builtin_unreachable();
}

}  // namespace

EXPORT char* getenv(const char* name) noexcept {
  static char answer[] = TAG;
  return std::strcmp(name, TAG) == 0 ? answer : Next<char*(const char*)>("getenv")(name);
}
EXPORT void _exit(int status) { Leave("_exit", status); }
EXPORT void _Exit(int status) noexcept { Leave("_Exit", status); }
