// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace traceinject {

inline bool Says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace traceinject
