// SPDX-License-Identifier: Apache-2.0
// What color an event has. One table for the timeline, its text and the legend.
#pragma once

#include <cstdint>

#include "analyzer/model/ink.h"

namespace traceinject {

// 0xRRGGBBAA.
using Rgba = std::uint32_t;

Rgba FillColor(Ink ink);
Rgba FillColor(Category category);
// Of the idle part of a bar that has categories in it.
inline constexpr Rgba kIdlePartColor = 0x565d66ff;
// One of kHues colors for things that are only to be told apart: names, streams.
inline constexpr std::uint32_t kHues = 12;
Rgba HueColor(std::uint32_t number);
// Opacity of what only waits.
inline constexpr unsigned kWaitAlpha = 110;

// Relative luminance 0..1 and contrast ratio 1..21 of the Web Content Accessibility Guidelines 2.1,
// https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio . Opacity is left out.
double Luminance(Rgba color);
double Contrast(Rgba a, Rgba b);
// Black or white, whichever has the higher contrast on `background`.
Rgba TextColorOn(Rgba background);
// `color`, made darker or lighter until it is seen on `background` as a line or a small patch.
Rgba StandingOut(Rgba color, Rgba background);
// `color` with another opacity, 0..255.
Rgba WithAlpha(Rgba color, unsigned alpha);

}  // namespace traceinject
