// SPDX-License-Identifier: Apache-2.0
// The waterfall of a device's figures; see waterfall.h.
#pragma once

#include "analyzer/metrics/kernels/waterfall.h"
#include "analyzer/metrics/report/device_figures.h"

namespace traceinject {

// Of the times that the figures are of; idle time by cause where those are its judged steps.
Waterfall WaterfallOf(const DeviceFigures& found);

}  // namespace traceinject
