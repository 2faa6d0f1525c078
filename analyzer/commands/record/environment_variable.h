// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace traceinject {

// Of this process; `otherwise` where it is not set or empty.
inline std::string EnvironmentVariable(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] != '\0' ? value : otherwise;
}

// All of them: NAME=VALUE.
inline std::vector<std::string> EnvironmentEntries() {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) entries.emplace_back(*entry);
  return entries;
}

}  // namespace traceinject
