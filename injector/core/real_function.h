// SPDX-License-Identifier: Apache-2.0
// The function that a wrapper of ours stands in front of.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "injector/core/loaded_libraries.h"

namespace traceinject {

// A function of a library that the program has loaded ("libcudart.so": any version), looked up at
// its first call by the library's handle. RTLD_NEXT would not do: see loaded_libraries.h.
template <typename Function>
class RealFunction {
 public:
  constexpr RealFunction(const char* library, const char* name) : library_(library), name_(name) {}

  // Null: the library is not loaded, or has no such function.
  Function* Get() {
    Function* function = function_.load(std::memory_order_acquire);
    if (function == nullptr) {
      if (void* library = OpenLoaded(library_))
        function = reinterpret_cast<Function*>(dlsym(library, name_));
      function_.store(function, std::memory_order_release);
    }
    return function;
  }

 private:
  const char* library_;
  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

}  // namespace traceinject
