// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace traceinject {

// Of files that are made from recordings, as recordings have it: they tell command lines, paths and
// hosts. Who wants to share one says so (chmod).
inline constexpr mode_t kPrivateFileMode = 0600;

}  // namespace traceinject
