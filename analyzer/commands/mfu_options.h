// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/commands/arguments.h"
#include "analyzer/metrics/mfu.h"

namespace traceinject {

// --flops-per-step, --params, --tokens-per-step, --step-count, --peak-tflops and --peak. `mfu` must
// outlive the parsing.
void AddMfuOptions(CLI::App& app, MfuOptions& mfu);

}  // namespace traceinject
