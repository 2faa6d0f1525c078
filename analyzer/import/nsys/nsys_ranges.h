// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/nsys/nsys_reader.h"

namespace traceinject {

// NVTX ranges and marks of an Nsight Systems export.
Status ReadNsysRanges(NsysReader& reader);

}  // namespace traceinject
