// SPDX-License-Identifier: Apache-2.0
#include "injector/base/linker_symbol.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>

#include "injector/base/symbol_table.h"

namespace traceinject {
namespace {

using Find = void*(void*, const char*);

// The version of the first C library for this processor, which all later ones have as well. By
// dlvsym, which most who replace dlsym leave alone, and which takes no symbol without a version.
#ifdef __aarch64__
constexpr char kFirstVersion[] = "GLIBC_2.17";
#else
constexpr char kFirstVersion[] = "GLIBC_2.2.5";
#endif

// What dlvsym answered, unless that is not of the C library: then what the C library has.
struct Checked {
  void* dlsym;

  static int Visit(dl_phdr_info* info, std::size_t, void* data) {
    auto* checked = static_cast<Checked*>(data);
    const char* slash = std::strrchr(info->dlpi_name, '/');
    if (std::strcmp(slash != nullptr ? slash + 1 : info->dlpi_name, "libc.so.6") != 0) return 0;
    if (!HoldsAddress(*info, checked->dlsym)) {
      void* own = FindDefined(*info, "dlsym");
      if (own != nullptr) checked->dlsym = own;
    }
    return 1;
  }
};

Find* DlsymOfTheCLibrary() {
  static constinit std::atomic<Find*> g_dlsym{nullptr};
  Find* find = g_dlsym.load(std::memory_order_relaxed);
  if (find == nullptr) {
    Checked checked{dlvsym(RTLD_NEXT, "dlsym", kFirstVersion)};
    dl_iterate_phdr(Checked::Visit, &checked);
    find = reinterpret_cast<Find*>(checked.dlsym);
    if (find == nullptr) find = dlsym;
    g_dlsym.store(find, std::memory_order_relaxed);
  }
  return find;
}

}  // namespace

void* FindSymbol(void* handle, const char* name) { return DlsymOfTheCLibrary()(handle, name); }

}  // namespace traceinject
