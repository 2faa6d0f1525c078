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
// One of kHues colours for things that are only to be told apart: names, streams.
inline constexpr std::uint32_t kHues = 12;
Rgba HueColour(std::uint32_t number);
// Opacity of what only waits.
inline constexpr unsigned kWaitAlpha = 110;

// Relative luminance 0..1 and contrast ratio 1..21 of the Web Content Accessibility Guidelines 2.1,
// https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio . Opacity is left out.
double Luminance(Rgba colour);
double Contrast(Rgba a, Rgba b);
// Black or white, whichever has the higher contrast on `background`.
Rgba TextColourOn(Rgba background);
// `colour`, made darker or lighter until it is seen on `background` as a line or a small patch.
Rgba StandingOut(Rgba colour, Rgba background);
// `colour` with another opacity, 0..255.
Rgba WithAlpha(Rgba colour, unsigned alpha);

}  // namespace traceinject
