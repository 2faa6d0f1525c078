// SPDX-License-Identifier: Apache-2.0
// Functions of PyTorch's C++ library, found by their mangled names.
#pragma once

#include <dlfcn.h>

#include "injector/base/loaded_libraries.h"

namespace traceinject {

// *function null: PyTorch is not loaded, or its version has no such function.
template <typename Function>
void FindInTorch(const char* name, Function** function) {
  void* library = OpenLoaded("libtorch_cpu.so");
  *function = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
  if (library != nullptr) dlclose(library);  // it stays loaded: the program holds it
}

}  // namespace traceinject
