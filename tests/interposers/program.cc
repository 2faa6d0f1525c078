// SPDX-License-Identifier: Apache-2.0
// Has all functions called, by itself or (OPENS) by the library that it opens with RTLD_LOCAL: its
// first argument, and the function there.
#include <dlfcn.h>

#include <cstdio>

#ifdef OPENS
int main(int, char** arguments) {
  void* library = dlopen(arguments[1], RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  auto* call = reinterpret_cast<int (*)()>(dlsym(library, arguments[2]));
  return call != nullptr && call() == 0 ? 0 : 1;
}
#else
extern "C" int CallAll();

int main() { return CallAll() == 0 ? 0 : 1; }
#endif
