// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/model/run.h"

namespace traceinject {

// NCCL from 2.28 on can carry out operations on symmetric memory by the copy engines: no kernel,
// only copies, launched on the thread of the call, inside [start, end). They become operations of
// class kComm. A call that launched a kernel has none: what it copies besides is set-up (the first
// operation between two ranks connects them). Rows must be sorted and joined to their launches.
// O((calls + operations) log + GPU operations).
void MarkNcclCopies(Rank& rank);

}  // namespace traceinject
