// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/checklist.h"

#include <algorithm>

namespace traceinject {

std::string_view CheckStatusName(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk:
      return "OK";
    case CheckStatus::kUnknown:
      return "?";
    case CheckStatus::kWarn:
      return "WARN";
    case CheckStatus::kFail:
      return "FAIL";
  }
  return "";
}

bool HasFailed(const Checklist& lines) {
  return std::any_of(lines.begin(), lines.end(),
                     [](const CheckLine& line) { return line.status == CheckStatus::kFail; });
}

}  // namespace traceinject
