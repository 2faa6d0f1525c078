// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "viewer/serve/drawn_frame.h"

namespace traceinject {

// Takes a number off the bytes; 0 if they end before it does.
std::uint32_t TakeNumber(std::string_view& bytes);

// The inverse of CodeFrame(). Empty: the bytes end too soon, too late, or refer to what is not in
// `before`.
std::optional<DrawnFrame> ReadFrame(const DrawnFrame& before, std::string_view bytes);

}  // namespace traceinject
