// SPDX-License-Identifier: Apache-2.0
#include "injector/core/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

namespace traceinject {

std::string FindLoaded(const char* prefix) {
  struct Search {
    const char* prefix;
    std::string path;
  } search{prefix, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        const char* slash = std::strrchr(info->dlpi_name, '/');
        const char* file = slash != nullptr ? slash + 1 : info->dlpi_name;
        if (std::strncmp(file, wanted->prefix, std::strlen(wanted->prefix)) != 0) return 0;
        wanted->path = info->dlpi_name;
        return 1;
      },
      &search);
  return search.path;
}

void* OpenLoaded(const char* prefix) {
  const std::string path = FindLoaded(prefix);
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
}

}  // namespace traceinject
