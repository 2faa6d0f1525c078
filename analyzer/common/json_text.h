// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// A JSON string with its quotes: what JSON does not allow is escaped, bytes that are not UTF-8
// become U+FFFD. O(length).
std::string JsonString(std::string_view text);

}  // namespace traceinject
