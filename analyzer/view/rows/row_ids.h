// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// Gives the rows their ids, by what the recording tells of them: "rank 0/GPU 1/stream 7 of context
// 1", "rank 0/thread 4242/NVTX", "process 99 on node-a/host". No two are alike.
void SetRowIds(const Run& run, std::vector<Row>& rows);

}  // namespace traceinject
