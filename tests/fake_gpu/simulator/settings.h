// SPDX-License-Identifier: Apache-2.0
// Environment variables that steer the fakes. They are read when used, so that a program may set
// them before its first CUDA call.
#pragma once

#include <cstdint>
#include <string>

namespace traceinject::fake {

// The number in `variable`, or `otherwise` when it is unset or empty.
std::int64_t SettingNumber(const char* variable, std::int64_t otherwise);
std::string SettingText(const char* variable, const char* otherwise);

}  // namespace traceinject::fake
