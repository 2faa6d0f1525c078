// SPDX-License-Identifier: Apache-2.0
// A whole table of recordings, as it is stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/export/output_file.h"

namespace traceinject {

// All rows of a table or view as CSV, RFC 4180, with a header; of several recordings with a column
// "rank" in front (the name of the file where there is none), and the same columns in each. Memory
// is that of a row. Returns how many rows there were.
Result<std::uint64_t> WriteTableRows(const std::vector<std::string>& recordings,
                                     const std::string& table, OutputFile& file);

}  // namespace traceinject
