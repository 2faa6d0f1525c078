// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/metrics/report/trust.h"
#include "schemas/report.pb.h"

namespace traceinject {

// Fills Report.trust, and clears the figures of Report.run and Report.devices that are withheld:
// those of the processes that lack them, and all sums over the run. O(report).
void WithholdFigures(const TrustJudgement& judgement, proto::Report& report);

// The same for Report.steps, once they are there.
void WithholdSteps(proto::Report& report);

}  // namespace traceinject
