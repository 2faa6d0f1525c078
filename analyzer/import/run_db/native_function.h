// SPDX-License-Identifier: Apache-2.0
// Functions of machine code, by the names that linkers have for them.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// A demangled name without what it returns and takes: "model::forward<float>". Of long template
// arguments only that there are some.
std::string ShortFunction(std::string_view demangled);

// Whether it is of a library although the program's own file holds it: made of a template in a
// header, linked statically, or written by nvcc for a launch. `name`: as ShortFunction() has it.
bool IsLibraryFunction(std::string_view name);

// Whether a file of machine code came with the system, CUDA, or a framework.
bool IsLibraryObject(std::string_view path);

}  // namespace traceinject
