// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "analyzer/model/run.h"

namespace traceinject {

// Whether what the program did before `time` was not all to be recorded, or was dropped again: then
// what comes first is not what it did first. O(gaps).
inline bool LacksBeginning(const Rank& rank, TimeNs time) {
  return rank.kept_from || std::any_of(rank.gaps.begin(), rank.gaps.end(), [&](const auto& gap) {
           return gap.planned() && gap.start < time;
         });
}

}  // namespace traceinject
