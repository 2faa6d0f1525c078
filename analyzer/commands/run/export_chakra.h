// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "analyzer/metrics/report/report_options.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Writes an execution trace of each rank into a folder that has none: trace.0.et, trace.1.et, ...,
// and trace.comm_groups.json, the groups that they name. `steps`: only those of each GPU. Returns
// the exit code: what was written, what is missing in it, and what failed is told on stderr.
int ExportChakraFolder(const Run& run, const std::string& folder,
                       const std::optional<StepChoice>& steps);

}  // namespace traceinject
