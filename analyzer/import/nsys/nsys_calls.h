// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/nsys/nsys_reader.h"

namespace traceinject {

// Calls of CUDA of an Nsight Systems export.
Status ReadNsysCalls(NsysReader& reader);

// What is told beside some of them: event records and waits, allocations. After the calls.
Status ReadNsysCallDetails(NsysReader& reader);

}  // namespace traceinject
