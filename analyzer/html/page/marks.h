// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// The class of the style sheet for a part of the time: "idle-data-wait" of "idle: data wait".
std::string MarkOf(std::string_view part);

// Whether a part of a bar is large enough to be seen, so that its legend is wanted. Pointed at, all
// parts have their names.
bool IsSeen(double part, double whole);

}  // namespace traceinject
