// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// A C++ name as source code would write it. Names that are not mangled, or not validly, come back
// unchanged.
std::string Demangle(std::string_view name);

}  // namespace traceinject
