// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "viewer/core/timeline/shading.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

inline constexpr Rgba kShadeColor = 0xf0a020ff;

// Draws over the rows of the GPU whose time it is, and those of its rank, what would vanish: in
// each column of pixels as strongly as the share of its time. O(pixels log n).
void PaintShading(const Timeline& timeline, const Shading& shading, Canvas& canvas);

}  // namespace traceinject
