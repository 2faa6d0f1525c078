// SPDX-License-Identifier: Apache-2.0
// What `analyze doctor` looked at, and what it found.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

enum class CheckStatus : std::uint8_t { kOk, kUnknown, kWarn, kFail };
// OK, ?, WARN, FAIL.
std::string_view CheckStatusName(CheckStatus status);

struct CheckLine {
  CheckStatus status = CheckStatus::kOk;
  std::string check;           // what was looked at
  std::string text;            // what was found
  std::string change, source;  // what to do and where that is written; empty: nothing
};

using Checklist = std::vector<CheckLine>;

bool HasFailed(const Checklist& lines);

}  // namespace traceinject
