// SPDX-License-Identifier: Apache-2.0
// Files that are read and written whole.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

// Errors, without the name of the file: it cannot be opened, is no ordinary file (a pipe would be
// waited for), or is larger than `most_bytes`.
Result<std::string> ReadSmallFile(const std::string& path, std::size_t most_bytes);

// Puts a file in the place of the one that is there, if any, in one step: whoever reads sees the
// old one or the new one, whenever this process ends. Errors, without the name of the file: the
// folder cannot be written to, the disk is full.
Status ReplaceFile(const std::string& path, const std::string& content);

}  // namespace traceinject
