// SPDX-License-Identifier: Apache-2.0
// Stands in front of all that we wrap, as others do that are preloaded:
//   STYLE_NEXT     goes on to dlsym(RTLD_NEXT)
//   STYLE_JUMP     the same, and is gone from the stack by then
//   STYLE_NEEDED   the same, and is linked with the libraries
//   STYLE_HANDLE   goes on to the library that it opens itself, as sharers of GPUs do
//   STYLE_HOOKING  the same, and answers dlsym() for these functions with its own
//   STYLE_ANSWERING  the same, and whoever asks dlvsym() for dlsym() gets that one
#include <dlfcn.h>

#include <cstring>
#include <initializer_list>

#include "injector/base/symbol_table.h"
#include "tests/interposers/called.h"
#include "wrapped_functions.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using Function = int();

#ifdef STYLE_ANSWERING
// What the C library itself has.
struct OfTheCLibrary {
  const char* name;
  void* found;

  static int Visit(dl_phdr_info* info, std::size_t, void* data) {
    auto* wanted = static_cast<OfTheCLibrary*>(data);
    if (std::strstr(info->dlpi_name, "/libc.so.6") == nullptr) return 0;
    wanted->found = traceinject::FindDefined(*info, wanted->name);
    return 1;
  }
};
template <typename Real>
Real* Own(const char* name) {
  OfTheCLibrary wanted{name, nullptr};
  dl_iterate_phdr(OfTheCLibrary::Visit, &wanted);
  return reinterpret_cast<Real*>(wanted.found);
}
void* Find(void* handle, const char* name) {
  return Own<void*(void*, const char*)>("dlsym")(handle, name);
}
#elif defined(STYLE_HANDLE) || defined(STYLE_HOOKING)
// Others' hooks of dlsym are gone by.
void* Find(void* handle, const char* name) {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (auto* real =
            reinterpret_cast<void* (*)(void*, const char*)>(dlvsym(libc, "dlsym", version)))
      return real(handle, name);
  }
  return nullptr;
}
#endif

#if defined(STYLE_HANDLE) || defined(STYLE_HOOKING)
const char* LibraryOf(const char* name) {
  if (std::strncmp(name, "cublasLt", 8) == 0) return "libcublasLt.so.13";
  if (std::strncmp(name, "cublas", 6) == 0) return "libcublas.so.13";
  if (std::strncmp(name, "cupti", 5) == 0) return "libcupti.so.13";
  if (std::strncmp(name, "cudnn", 5) == 0) return "libcudnn.so.13";
  return std::strncmp(name, "cuda", 4) == 0 ? "libcudart.so.13" : "libcuda.so.13";
}

Function* Next(const char* name) {
  return reinterpret_cast<Function*>(Find(dlopen(LibraryOf(name), RTLD_LAZY | RTLD_LOCAL), name));
}
#else
Function* Next(const char* name) { return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name)); }
#endif

}  // namespace

#define DEFINE(name)                              \
  EXPORT int name() {                             \
    traceinject::interposers::Called(TAG, #name); \
    static Function* const next = Next(#name);    \
    return next == nullptr ? -1 : next();         \
  }
FUNCTIONS(DEFINE)

#ifdef STYLE_HOOKING
EXPORT void* dlsym(void* handle, const char* name) noexcept {
#define ANSWER(function) \
  if (std::strcmp(name, #function) == 0) return reinterpret_cast<void*>(&function);
  FUNCTIONS(ANSWER)
  return Find(handle, name);
}
#endif

#ifdef STYLE_ANSWERING
EXPORT void* dlvsym(void* handle, const char* name, const char* version) noexcept {
  if (std::strcmp(name, "dlsym") == 0) return reinterpret_cast<void*>(&dlsym);
  return Own<void*(void*, const char*, const char*)>("dlvsym")(handle, name, version);
}
#endif
