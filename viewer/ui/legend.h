// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/rows.h"

namespace traceinject {

// What the colours mean: the kernel classes of this run.
void DrawLegend(const RowModel& model);

}  // namespace traceinject
