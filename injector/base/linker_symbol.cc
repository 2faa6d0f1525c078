// SPDX-License-Identifier: Apache-2.0
#include "injector/base/linker_symbol.h"

#include <dlfcn.h>

#include <atomic>

namespace traceinject {
namespace {

using Find = void*(void*, const char*);

// The version of the first C library for this processor, which all later ones have as well. By
// dlvsym, which those who replace dlsym leave alone, and which takes no symbol without a version.
#ifdef __aarch64__
constexpr char kFirstVersion[] = "GLIBC_2.17";
#else
constexpr char kFirstVersion[] = "GLIBC_2.2.5";
#endif

Find* DlsymOfTheCLibrary() {
  static constinit std::atomic<Find*> g_dlsym{nullptr};
  Find* find = g_dlsym.load(std::memory_order_relaxed);
  if (find == nullptr) {
    find = reinterpret_cast<Find*>(dlvsym(RTLD_NEXT, "dlsym", kFirstVersion));
    if (find == nullptr) find = dlsym;
    g_dlsym.store(find, std::memory_order_relaxed);
  }
  return find;
}

}  // namespace

void* FindSymbol(void* handle, const char* name) { return DlsymOfTheCLibrary()(handle, name); }

}  // namespace traceinject
