// SPDX-License-Identifier: Apache-2.0
// What became of the levers that this process was asked to pull, for the recording.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "injector/options/try_list.h"
#include "machine/rows.h"

namespace traceinject {

// Once, before any of the others.
void ExpectTries(std::vector<TryWish> wishes);

// The lever took effect so many times so far, in words where and on what. 0: it did not, and why.
// From any thread; in a process that was forked from this one it does nothing. Unknown levers are
// ignored. O(levers).
void TellTried(std::string_view lever, long times, std::string text);

// Rows of those that were told of since the last call; at first of all. Empty where nothing was
// asked for. The value is "TIMES: TEXT".
std::vector<SystemFactRow> TakeTried();

}  // namespace traceinject
