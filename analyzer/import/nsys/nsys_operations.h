// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyzer/import/nsys/nsys_reader.h"

namespace traceinject {

// Kernels, copies, memsets and CUDA graphs of an Nsight Systems export, after its calls. Counts the
// graphs that were traced as a whole.
Status ReadNsysOperations(NsysReader& reader, std::int64_t& whole_graphs);

}  // namespace traceinject
