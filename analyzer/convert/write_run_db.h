// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Writes a process as it was read from the trace of another profiler, with Repairs::kLeftOut, into
// an empty run.db: read again, it is the same. `notes`: what its reader left out, in words.
// O(events). What only recordings of ours have (plans of NCCL, GEMMs, samples) is not
// written.
Status WriteRunDb(const Rank& rank, const std::vector<std::string>& notes, const Database& to);

}  // namespace traceinject
