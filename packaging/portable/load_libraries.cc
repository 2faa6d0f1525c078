// SPDX-License-Identifier: Apache-2.0
// Looks up the functions that trampolines.py wrote jumps to.
#include <dlfcn.h>

#include <cstring>

namespace {

struct RunTimeLibrary {
  const char* soname;
  const char* names;  // one behind the other, an empty one at the end
  void** addresses;   // in the order of the names
};

}  // namespace

// The last has no soname.
extern "C" __attribute__((visibility("hidden")))
const RunTimeLibrary traceinject_run_time_libraries[];

namespace {

void Load(const RunTimeLibrary& library) {
  void* const handle = dlopen(library.soname, RTLD_LAZY);
  if (handle == nullptr) return;
  void** address = library.addresses;
  for (const char* name = library.names; *name != '\0'; name += std::strlen(name) + 1, ++address) {
    if (void* const found = dlsym(handle, name)) *address = found;
  }
}

// Before main, as the dynamic loader would have.
__attribute__((constructor)) void LoadAll() {
  for (const RunTimeLibrary* library = traceinject_run_time_libraries; library->soname != nullptr;
       ++library)
    Load(*library);
}

}  // namespace
