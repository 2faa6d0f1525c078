// SPDX-License-Identifier: Apache-2.0
// Checks of what was sampled of a device while it worked.
#pragma once

#include <vector>

#include "analyzer/metrics/hygiene_checks.h"
#include "schemas/report.pb.h"

namespace traceinject {

std::vector<HygieneProof> CheckTelemetry(const proto::Telemetry& telemetry);

}  // namespace traceinject
