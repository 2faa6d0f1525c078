// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace traceinject {

inline constexpr int kExitOk = 0, kExitIncomplete = 1, kExitUsage = 2, kExitUnreadable = 3;

}  // namespace traceinject
