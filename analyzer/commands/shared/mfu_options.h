// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "analyzer/metrics/kernels/mfu.h"

namespace traceinject {

// What the work of a step and the peak rate are that model FLOPs utilization is measured by.
// `options` must outlive the parsing.
void AddMfuOptions(CLI::App& app, MfuOptions& options);

}  // namespace traceinject
