// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace traceinject {

// Nanoseconds of "60s", "10m", "2h". False if the text is no such time.
bool ParseDuration(std::string_view text, std::int64_t* ns);

}  // namespace traceinject
