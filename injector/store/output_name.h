// SPDX-License-Identifier: Apache-2.0
// From the pattern in TRACEINJECT_OUTPUT to a path.
//
//   %r rank (0 outside of a job)   %h host name   %p process id   %t start, UTC, YYYYmmdd-HHMMSS %%
//   a percent sign
//
// Numbers take a width padded with zeros: %05r. Anything else after % stays as it is written. In a
// job of more than one rank a pattern without %r and %p gets .rank%05r before its extension, so
// that ranks do not meet on one name: run.rank00003.db.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace traceinject {

struct OutputName {
  std::string pattern;
  int rank = -1;        // global rank; -1: not a job of ranks
  int world_size = -1;  // -1: unknown; a known rank then counts as one of several
  std::string host;
  std::int64_t pid = 0;
  std::time_t start = 0;  // seconds since the epoch
};

// Depends on its argument only. O(length).
std::string ExpandOutputName(const OutputName& name);

}  // namespace traceinject
