// SPDX-License-Identifier: Apache-2.0
// Launches an empty kernel without nvcc and without linking CUDA: what is asked for is found in the
// libraries when the program runs. Any failure ends the program with a message and exit code 2.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace empty_kernel {

[[noreturn]] inline void Stop(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why);
  std::exit(2);
}

inline void Check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s failed with %d\n", what, result);
  std::exit(2);
}

inline void* Open(const char* library) {
  void* handle = dlopen(library, RTLD_NOW);
  if (handle == nullptr) Stop(library, dlerror());
  return handle;
}

template <typename Function>
Function* Find(void* handle, const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(handle, name));
  if (function == nullptr) Stop(name, "is not there");
  return function;
}

struct Gpu {
  std::function<void()> launch;  // one empty kernel on the default stream; returns at once
  std::function<void()> wait;    // until all are done
};

// Through cuLaunchKernel.
Gpu ThroughDriver();
// Through cudaLaunchKernel of this runtime library, as PyTorch does.
Gpu ThroughRuntime(const char* library);

}  // namespace empty_kernel
