// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace traceinject {

// Demangled kernel names cut down to `width` bytes for a table: without return type, parameters,
// namespaces and template arguments. Names that would then be equal keep as many levels of template
// arguments as tell them apart; what is too long loses its middle; as a last resort "#2", "#3" is
// appended. Different names stay different, equal ones
// equal. width >= 16.
std::vector<std::string> ShortKernelNames(const std::vector<std::string>& names, std::size_t width);

}  // namespace traceinject
