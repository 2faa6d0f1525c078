// SPDX-License-Identifier: Apache-2.0
// FuzzTarget::run of what the stack sampler reads of files of machine code.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

std::string FuzzObject(std::string_view input);

}  // namespace traceinject
