// SPDX-License-Identifier: Apache-2.0
// Checks of what was sampled of a device while it worked.
#pragma once

#include <vector>

#include "analyzer/metrics/machine/hygiene_checks.h"
#include "schemas/report.pb.h"

namespace traceinject {

// errors_since: in words, the time over which errors were counted.
std::vector<HygieneProof> CheckTelemetry(const proto::Telemetry& telemetry,
                                         std::string_view errors_since = "while it was recorded");

}  // namespace traceinject
