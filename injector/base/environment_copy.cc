// SPDX-License-Identifier: Apache-2.0
#include "injector/base/environment_copy.h"

namespace traceinject {

EnvironmentCopy::EnvironmentCopy(const char* const* block) {
  for (; block != nullptr && *block != nullptr; ++block) entries_.emplace_back(*block);
  for (const std::string& entry : entries_) pointers_.push_back(entry.c_str());
  pointers_.push_back(nullptr);
}

std::string_view EnvironmentCopy::Get(std::string_view name) const {
  for (const std::string_view entry : entries_) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace traceinject
