// SPDX-License-Identifier: Apache-2.0
#include "injector/environment/installed_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "injector/base/symbol_table.h"

namespace traceinject {
namespace {

constexpr char kCache[] = "/etc/ld.so.cache";

// Nothing is opened here, not even what is loaded already: NCCL may ask in a forked child, where
// the dynamic linker takes another thread's dlopen for one that never ended, and aborts.
struct Loaded {
  const char* name;
  char* path;

  static int Visit(dl_phdr_info* info, std::size_t, void* data) {
    const auto* wanted = static_cast<const Loaded*>(data);
    const char* slash = strrchr(info->dlpi_name, '/');
    if (slash == nullptr || strcmp(slash + 1, wanted->name) != 0) return 0;
    snprintf(wanted->path, PATH_MAX, "%s", info->dlpi_name);
    return 1;
  }
};

bool IsLoaded(const char* name, char* path) {
  Loaded wanted{name, path};
  return dl_iterate_phdr(Loaded::Visit, &wanted) != 0;
}

// The object that has the code; null: none. The C library's handles are these.
link_map* FindOwner(const void* code) {
  Dl_info info{};
  link_map* map = nullptr;
  return dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ? nullptr : map;
}

bool IsInFolders(const char* name, const Dl_serinfo& folders, char* path) {
  for (unsigned i = 0; i < folders.dls_cnt; ++i) {
    const int length = snprintf(path, PATH_MAX, "%s/%s", folders.dls_serpath[i].dls_name, name);
    if (length < PATH_MAX && access(path, F_OK) == 0) return true;
  }
  return false;
}

bool IsInSearchPath(link_map* owner, const char* name, char* path) {
  Dl_serinfo size;
  if (dlinfo(owner, RTLD_DI_SERINFOSIZE, &size) != 0) return false;
  auto* folders = static_cast<Dl_serinfo*>(malloc(size.dls_size));
  if (folders == nullptr) return false;
  const bool found = dlinfo(owner, RTLD_DI_SERINFOSIZE, folders) == 0 &&
                     dlinfo(owner, RTLD_DI_SERINFO, folders) == 0 &&
                     IsInFolders(name, *folders, path);
  free(folders);
  return found;
}

// `search(text, bytes)` on what is in the file; false if it cannot be read.
template <typename Search>
bool IsInFile(const char* path, Search search) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  struct stat about {};
  bool found = false;
  if (fstat(file, &about) == 0 && about.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(about.st_size);
    void* text = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (text != MAP_FAILED) {
      found = search(static_cast<const char*>(text), bytes);
      munmap(text, bytes);
    }
  }
  close(file);
  return found;
}

bool IsInCacheFile(const char* name) {
  return IsInFile(kCache, [&](const char* cache, std::size_t bytes) {
    return IsInLoaderCache(cache, bytes, name);
  });
}

// Versions of NCCL's interface for profilers.
constexpr int kFirstProfiler = 1, kLastProfiler = 7;

struct LoadedProfiler {
  const void* own;
  char* path;

  static int Visit(dl_phdr_info* info, std::size_t, void* data) {
    const auto* wanted = static_cast<const LoadedProfiler*>(data);
    if (info->dlpi_name[0] == '\0' || HoldsAddress(*info, wanted->own)) return 0;
    for (int version = kFirstProfiler; version <= kLastProfiler; ++version) {
      char name[32];
      snprintf(name, sizeof name, "ncclProfiler_v%d", version);
      if (FindDefined(*info, name) == nullptr) continue;
      snprintf(wanted->path, PATH_MAX, "%s", info->dlpi_name);
      return 1;
    }
    return 0;
  }
};

}  // namespace

// The cache holds its names as strings that end with 0; one that is the end of another, as of its
// path, is not written twice.
bool IsInLoaderCache(const char* cache, std::size_t bytes, const char* name) {
  const std::size_t length = strlen(name) + 1;
  for (const char *at = cache, *end = cache + bytes; at < end; ++at) {
    at = static_cast<const char*>(memmem(at, static_cast<std::size_t>(end - at), name, length));
    if (at == nullptr) return false;
    if (at > cache && (at[-1] == '/' || at[-1] == '\0')) return true;
  }
  return false;
}

bool FindLoadedNcclProfiler(const void* own, char* path) {
  LoadedProfiler wanted{own, path};
  return dl_iterate_phdr(LoadedProfiler::Visit, &wanted) != 0;
}

bool HasNcclProfiler(const char* path) {
  constexpr char kSymbol[] = "ncclProfiler_v";
  return IsInFile(path, [&](const char* text, std::size_t bytes) {
    return memmem(text, bytes, kSymbol, strlen(kSymbol)) != nullptr;
  });
}

bool FindInstalledLibrary(const char* name, const void* caller, char* path) {
  if (IsLoaded(name, path)) return true;
  link_map* owner = FindOwner(caller);
  if (owner != nullptr && IsInSearchPath(owner, name, path)) return true;
  if (!IsInCacheFile(name)) return false;
  snprintf(path, PATH_MAX, "%s", name);
  return true;
}

}  // namespace traceinject
