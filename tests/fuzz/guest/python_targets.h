// SPDX-License-Identifier: Apache-2.0
// FuzzTarget::run of the memory of an interpreter.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// That holds anything.
std::string FuzzPythonMemory(std::string_view input);

// That holds the structures of a version, with some words changed.
std::string FuzzPythonObjects(std::string_view input);

}  // namespace traceinject
