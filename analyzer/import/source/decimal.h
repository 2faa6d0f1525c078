// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace traceinject {

// The decimal number `text` times 10^shift, rounded half away from zero, without a detour through
// floating point: microseconds since the epoch with three decimals do not fit a double. Accepts
// what JSON does, "-12.5e3". Empty: not a number, or out of range. O(length).
std::optional<std::int64_t> ParseDecimal(std::string_view text, int shift = 0);

}  // namespace traceinject
