// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/style/theme.h"

namespace traceinject {
namespace {

constexpr Theme kDark = {.name = "dark",
                         .window = 0x1b1e23ff,
                         .background = 0x1b1e23ff,
                         .row_tint = 0x20242aff,
                         .heading = 0x2d343dff,
                         .ruler = 0x262b32ff,
                         .popup = 0x292e36fa,
                         .control = 0x353d48ff,
                         .control_hovered = 0x46515fff,
                         .text = 0xe4e8edff,
                         .dim_text = 0xa3adb8ff,
                         .warning = 0xffcc5cff,
                         .bad = 0xf2857fff,
                         .good = 0x8fd180ff,
                         .link = 0x8cc2faff,
                         .grid = 0xffffff12,
                         .divider = 0x00000080,
                         .selected = 0xffffffff,
                         .hovered = 0xffffffa0,
                         .measure_fill = 0xffffff20,
                         .measure_edge = 0xffe082ff,
                         .not_recorded = 0xd9534f38,
                         .being_read = 0xffffff0c,
                         .not_shown = 0x00000059,
                         .bar = 0x5c7fa8ff,
                         .bar_left_out = 0x454c55ff,
                         .arrow = 0xffe082ff,
                         .counter = 0x7fb2d6ff};

constexpr Theme kLight = {.name = "light",
                          .window = 0xf4f6f8ff,
                          .background = 0xffffffff,
                          .row_tint = 0xf6f8faff,
                          .heading = 0xe2e8efff,
                          .ruler = 0xeaeef3ff,
                          .popup = 0xfffffffa,
                          .control = 0xdde4ebff,
                          .control_hovered = 0xc8d3deff,
                          .text = 0x1b2026ff,
                          .dim_text = 0x525c68ff,
                          .warning = 0x8a4b00ff,
                          .bad = 0xb3261eff,
                          .good = 0x1f6b2bff,
                          .link = 0x0b57b0ff,
                          .grid = 0x00000014,
                          .divider = 0x00000030,
                          .selected = 0x000000ff,
                          .hovered = 0x000000a0,
                          .measure_fill = 0x00000018,
                          .measure_edge = 0x8a5a00ff,
                          .not_recorded = 0xd9534f30,
                          .being_read = 0x0000000c,
                          .not_shown = 0x0000001c,
                          .bar = 0x5c7fa8ff,
                          .bar_left_out = 0xc3ccd6ff,
                          .arrow = 0x5f2d00ff,
                          .counter = 0x5b8fb5ff};

}  // namespace

const Theme& DarkTheme() { return kDark; }
const Theme& LightTheme() { return kLight; }

const Theme& ThemeOf(ThemeId id) { return id == ThemeId::kLight ? kLight : kDark; }

std::optional<ThemeId> ThemeCalled(std::string_view name) {
  for (const ThemeId id : {ThemeId::kDark, ThemeId::kLight}) {
    if (ThemeOf(id).name == name) return id;
  }
  return std::nullopt;
}

std::string_view ColorModeName(ColorMode mode) {
  constexpr std::string_view kNames[] = {"class", "name", "stream"};
  return kNames[static_cast<std::size_t>(mode)];
}

ColorMode NextColorMode(ColorMode mode) {
  return mode == ColorMode::kStream ? ColorMode::kClass
                                    : static_cast<ColorMode>(static_cast<unsigned>(mode) + 1);
}

}  // namespace traceinject
