// SPDX-License-Identifier: Apache-2.0
// Whether another tool holds one of the variables that name an injection library.
#pragma once

#include <string.h>
#include <unistd.h>

namespace traceinject {

// "none" is a common way to say that the slot is free. So is a path of ours that a parent had, from
// another place or before a new version came, and one at which there is nothing (any more, or on
// this side of a mount): CUDA could not load it either. A name without a folder is searched for by
// the loader.
inline bool IsFreeSlot(const char* value) {
  if (value == nullptr || value[0] == '\0' || strcmp(value, "none") == 0) return true;
  const char* slash = strrchr(value, '/');
  if (strcmp(slash == nullptr ? value : slash + 1, "libtraceinject.so") == 0) return true;
  return slash != nullptr && access(value, F_OK) != 0;
}

}  // namespace traceinject
