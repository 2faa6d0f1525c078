// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// The place of a process in its job, where no launcher told it one (Lightning starts the others
// itself, and so do programs that spawn them), by its largest communicator, of equal ones the
// first: its rank, the size of the job, and a run_id that all ranks get alike. Left alone are
// processes that have a rank, that drive several ranks of one communicator, or whose communicator
// is smaller than the job that WORLD_SIZE tells of. O(communicators + facts).
void FindPlaceByCommunicator(Rank& rank);

}  // namespace traceinject
