// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/simulator/settings.h"

#include <cstdlib>

namespace traceinject::fake {

std::int64_t SettingNumber(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? std::strtoll(text, nullptr, 0) : otherwise;
}

std::string SettingText(const char* variable, const char* otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? text : otherwise;
}

}  // namespace traceinject::fake
