// SPDX-License-Identifier: Apache-2.0
// Summaries of ranks in files and between processes.
//
// A file is one or more blocks, one behind the other, so that files may be joined with `cat`. A
// block is, in little endian, the mark "TRJRANKS", the version of the format (4 bytes), the CRC-32
// of the message (4), its length (8), and the message `Summaries` of schemas/rank_summary.proto.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/common/result.h"
#include "analyzer/ranks/summary/rank_summary.h"

namespace traceinject {

inline constexpr std::uint32_t kSummaryVersion = 1;

// One block. Two to four bytes a column for each operation. Error: a summary that cannot be.
// O(rows).
Result<std::string> WriteSummaries(const Job& job);

// One block, no more and no less. Nothing in it can do harm: what is cut off, damaged, of another
// format, absurd or in contradiction with itself is an error that begins with `name`. O(bytes).
Result<Job> ReadSummaries(std::string_view block, const std::string& name);

// All blocks of a file. Error: as ReadSummaries, or the file cannot be read.
Result<Job> ReadSummaryFile(const std::string& path);

// Whether a file begins like a summary file. False if it cannot be read.
bool IsSummaryFile(const std::string& path);

}  // namespace traceinject
