// SPDX-License-Identifier: Apache-2.0
// FuzzTarget::run of the ranges, marks and names that a program tells of.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

std::string FuzzNvtx(std::string_view input);

}  // namespace traceinject
