// SPDX-License-Identifier: Apache-2.0
#include "injector/base/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstring>

namespace traceinject {
namespace {

// Runs in calls of the program, and below the dynamic linker: allocates nothing, throws nothing.
struct LibrarySearch {
  explicit LibrarySearch(const char* file_begins_with) : prefix(file_begins_with) {
    dl_iterate_phdr(Visit, this);
  }

  static int Visit(dl_phdr_info* info, std::size_t, void* data) {
    auto* search = static_cast<LibrarySearch*>(data);
    const char* slash = std::strrchr(info->dlpi_name, '/');
    const char* file = slash != nullptr ? slash + 1 : info->dlpi_name;
    const std::size_t length = std::strlen(info->dlpi_name);
    if (std::strncmp(file, search->prefix, std::strlen(search->prefix)) != 0 ||
        length >= sizeof search->path)
      return 0;
    std::memcpy(search->path, info->dlpi_name, length + 1);
    return 1;
  }

  const char* prefix;
  char path[PATH_MAX] = {};  // empty: not found
};

}  // namespace

std::string FindLoaded(const char* prefix) { return LibrarySearch(prefix).path; }

void* OpenLoaded(const char* prefix) {
  const LibrarySearch found(prefix);
  return found.path[0] == '\0' ? nullptr : dlopen(found.path, RTLD_NOLOAD | RTLD_LAZY);
}

}  // namespace traceinject
