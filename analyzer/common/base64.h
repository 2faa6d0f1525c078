// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// Of bytes that are given as small hexadecimal digits, as a Content-Security-Policy wants hashes.
std::string Base64OfHex(std::string_view hex);

}  // namespace traceinject
