// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace traceinject {

// In ASCII, whatever the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace traceinject
