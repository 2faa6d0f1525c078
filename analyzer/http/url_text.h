// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace traceinject {

// "a b/%C3%A9" of "a%20b/%25C3%25A9". Empty: not such a text.
std::optional<std::string> PercentDecoded(std::string_view text);
// The other way; "/" stays.
std::string PercentEncoded(std::string_view text);

}  // namespace traceinject
