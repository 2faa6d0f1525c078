// SPDX-License-Identifier: Apache-2.0
// How many jobs are drawn. TRACEINJECT_SEEDS in the environment says otherwise.
#pragma once

#include <cstdlib>

namespace traceinject {

inline int SeedsOr(int usual) {
  const char* const given = std::getenv("TRACEINJECT_SEEDS");
  return given == nullptr ? usual : std::atoi(given);
}

// One of a hundred may be wrong.
inline int MayFail(int seeds) { return seeds / 100; }

}  // namespace traceinject
