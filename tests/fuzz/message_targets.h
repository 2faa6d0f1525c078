// SPDX-License-Identifier: Apache-2.0
// What analyze reads beside recordings.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

std::string FuzzSummary(std::string_view input);
std::string FuzzCondition(std::string_view input);

}  // namespace traceinject
