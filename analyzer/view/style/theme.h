// SPDX-License-Identifier: Apache-2.0
// The colors of everything that is no event, and how events are colored. Events have the same
// colors in every theme (see palette.h).
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/view/style/palette.h"

namespace traceinject {

enum class ThemeId : std::uint8_t { kDark, kLight };

struct Theme {
  std::string_view name;  // as given to --theme
  Rgba window, background, row_tint, heading, ruler, popup, control, control_hovered;
  Rgba text, dim_text, warning, bad, good, link;
  Rgba grid, divider;
  Rgba selected, hovered;           // frames around events
  Rgba measure_fill, measure_edge;  // the stretch that is being measured
  Rgba not_recorded, being_read;
  Rgba not_shown;          // over the parts of the whole run that are beside the view
  Rgba bar, bar_left_out;  // of charts; what a filter leaves out
  Rgba arrow;              // to what the selected event is linked with, and the frame around that
  Rgba counter;            // a figure's area; its range within a pixel in a paler one
};

const Theme& DarkTheme();
const Theme& LightTheme();
const Theme& ThemeOf(ThemeId id);
// Empty if no theme is called so.
std::optional<ThemeId> ThemeCalled(std::string_view name);

// What the color of a GPU operation tells.
enum class ColorMode : std::uint8_t { kClass, kName, kStream };
// "class", "name", "stream".
std::string_view ColorModeName(ColorMode mode);
// The one after it; after the last the first.
ColorMode NextColorMode(ColorMode mode);

// How the window looks; all of it can be changed while it is open.
struct Look {
  ThemeId theme = ThemeId::kDark;
  ColorMode colors = ColorMode::kClass;
  bool operator==(const Look&) const = default;
};

}  // namespace traceinject
