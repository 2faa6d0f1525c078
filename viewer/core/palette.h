// SPDX-License-Identifier: Apache-2.0
// What colour an event has. One table for the timeline, its text and the legend.
#pragma once

#include <cstdint>

#include "analyzer/model/ink.h"

namespace traceinject {

// 0xRRGGBBAA.
using Rgba = std::uint32_t;

Rgba FillColour(Ink ink);
Rgba FillColour(Category category);
// Black or white, whichever can be read on `background`. Luminance as in ITU-R BT.601.
Rgba TextColourOn(Rgba background);
// `colour` with another opacity, 0..255.
Rgba WithAlpha(Rgba colour, unsigned alpha);

}  // namespace traceinject
