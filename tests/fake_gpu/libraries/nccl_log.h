// SPDX-License-Identifier: Apache-2.0
// NCCL's log as NCCL writes it (nccl src/debug.cc, 2.23 to 2.28): NCCL_DEBUG, NCCL_DEBUG_SUBSYS and
// NCCL_DEBUG_FILE are read at the first line, which also makes the file.
#pragma once

#include <string>

namespace traceinject::fake {

enum NcclSubsystem : unsigned {
  kNcclInit = 1,
  kNcclP2p = 2,
  kNcclShm = 4,
  kNcclNet = 8,
  kNcclGraph = 16
};

// At level INFO, of one of these subsystems.
void WriteNcclLog(unsigned subsystems, const std::string& text);

// The line with the version, for which VERSION is enough; once.
void WriteNcclVersion();

}  // namespace traceinject::fake
