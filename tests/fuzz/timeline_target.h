// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// A timeline of a job's operations with values that the input chooses, or any text.
std::string FuzzTimeline(std::string_view input);

}  // namespace traceinject
