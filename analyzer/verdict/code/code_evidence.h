// SPDX-License-Identifier: Apache-2.0
// Which lines of the program the label is about.
#pragma once

#include <string_view>

#include "analyzer/metrics/report/device_figures.h"
#include "schemas/report.pb.h"

namespace traceinject {

inline constexpr std::string_view kHostCodeLabel = "host_code";

// Adds Verdict.code, and a line of evidence that names the first of them:
// "most of it at train.py:41 in load_batch (choice of numpy/random): 48.0 of 57.0 ms per step (45.1
// to 50.7)". Without stacks, or where these say nothing of the label, nothing.
void AddCodeEvidence(const DeviceFigures& judged, std::string_view label, proto::Verdict& to);

}  // namespace traceinject
