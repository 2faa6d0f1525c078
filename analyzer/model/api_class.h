// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

// What a function of CUDA or HIP does, by its name: cudaLaunchKernel, cuMemcpyHtoDAsync_v2,
// hipLaunchKernel, ... For sources that name their calls without classing them; a run.db carries
// the class. Names that are not in the table are other calls. O(rows of the table).
ApiClass ClassifyApi(std::string_view name);

// Runtime functions begin with cuda or hip, all others are taken as the driver's.
ApiDomain DomainOfApi(std::string_view name);

}  // namespace traceinject
