// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// Text as recorded, made fit to store and show: bytes that are not UTF-8 become U+FFFD, control
// characters (also those that steer a terminal) become spaces. O(length).
std::string Printable(std::string_view text);

}  // namespace traceinject
