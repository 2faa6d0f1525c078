// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace traceinject {

// The nearest whole number.
inline std::int64_t Whole(double value) { return std::llround(value); }

}  // namespace traceinject
