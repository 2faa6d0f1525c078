// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace traceinject {

inline constexpr int kExitOk = 0, kExitUsage = 2, kExitUnreadable = 3;

}  // namespace traceinject
