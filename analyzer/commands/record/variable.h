// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace traceinject {

// Of the environment; `otherwise` if it is not set, or empty.
inline std::string Variable(const char* name, const char* otherwise = "") {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] != '\0' ? value : otherwise;
}

}  // namespace traceinject
