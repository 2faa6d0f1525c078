// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace traceinject {

// The text of a line, from 1, without spaces around it. Empty: the file is not there, or was
// changed after that moment (ns since the epoch), or has no such line. O(bytes up to it).
std::string SourceLine(const std::string& file, std::int64_t line, std::int64_t unchanged_since_ns);

}  // namespace traceinject
