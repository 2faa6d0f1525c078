// SPDX-License-Identifier: Apache-2.0
// What ImGui drew, as plain numbers: all that a browser needs to show the same.
#pragma once

#include <cstdint>
#include <vector>

struct ImDrawData;

namespace traceinject {

// Finer than what a screen shows of edges.
inline constexpr int kFrameUnitsPerPx = 16;

struct FrameVertex {
  std::int32_t x = 0, y = 0;  // in 1/16 px
  std::uint32_t texel = 0;    // in the texture of the font: u and v in 1/65535, u in the low half
  std::uint32_t color = 0;    // red in the lowest byte
  bool operator==(const FrameVertex&) const = default;
};

// Triangles inside of a box, in pixels.
struct FrameCommand {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;
  std::uint32_t indices = 0;  // the next so many of the list's
  bool operator==(const FrameCommand&) const = default;
};

struct FrameList {
  std::vector<FrameVertex> vertices;
  std::vector<std::uint32_t> indices;
  std::vector<FrameCommand> commands;
  bool operator==(const FrameList&) const = default;
};

struct DrawnFrame {
  std::int32_t width_px = 0, height_px = 0;
  std::uint8_t cursor = 0;  // ImGuiMouseCursor + 1: 0 is none
  bool wants_text = false;  // the keyboard is for a text
  std::vector<FrameList> lists;
  bool operator==(const DrawnFrame&) const = default;
};

// Of the current context, between ImGui::Render and the next frame. There is one texture, that of
// the font.
DrawnFrame CaptureFrame(const ImDrawData& drawn);

}  // namespace traceinject
