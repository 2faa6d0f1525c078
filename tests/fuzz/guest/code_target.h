// SPDX-License-Identifier: Apache-2.0
// FuzzTarget::run of what the stack sampler reads of files of machine code.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// A file with changed bytes.
std::string FuzzObject(std::string_view input);

// Tables for unwinding alone.
std::string FuzzUnwind(std::string_view input);

}  // namespace traceinject
