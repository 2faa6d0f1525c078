// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/drawn_frame.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace traceinject {
namespace {

// Far outside of any screen; what is farther is cut off on the way to it.
constexpr float kFarPx = 1 << 20;
constexpr float kTexelUnits = 65535;

std::int32_t Units(float px) {
  return static_cast<std::int32_t>(std::lround(std::clamp(px, -kFarPx, kFarPx) * kFrameUnitsPerPx));
}

std::uint32_t TexelUnits(float share) {
  return static_cast<std::uint32_t>(std::lround(std::clamp(share, 0.0F, 1.0F) * kTexelUnits));
}

std::int32_t Pixel(float px) { return static_cast<std::int32_t>(std::clamp(px, -kFarPx, kFarPx)); }

FrameList Capture(const ImDrawList& drawn) {
  FrameList list;
  list.vertices.reserve(static_cast<std::size_t>(drawn.VtxBuffer.Size));
  for (const ImDrawVert& vertex : drawn.VtxBuffer) {
    list.vertices.push_back({Units(vertex.pos.x), Units(vertex.pos.y),
                             TexelUnits(vertex.uv.x) | TexelUnits(vertex.uv.y) << 16, vertex.col});
  }
  list.indices.reserve(static_cast<std::size_t>(drawn.IdxBuffer.Size));
  for (const ImDrawCmd& command : drawn.CmdBuffer) {
    if (command.ElemCount == 0) continue;
    const ImVec4& clip = command.ClipRect;
    list.commands.push_back(
        {Pixel(clip.x), Pixel(clip.y), Pixel(clip.z), Pixel(clip.w), command.ElemCount});
    for (unsigned i = 0; i < command.ElemCount; ++i) {
      const ImDrawIdx index = drawn.IdxBuffer[static_cast<int>(command.IdxOffset + i)];
      list.indices.push_back(command.VtxOffset + index);
    }
  }
  return list;
}

}  // namespace

DrawnFrame CaptureFrame(const ImDrawData& drawn) {
  DrawnFrame frame;
  frame.width_px = Pixel(drawn.DisplaySize.x);
  frame.height_px = Pixel(drawn.DisplaySize.y);
  frame.cursor = static_cast<std::uint8_t>(ImGui::GetMouseCursor() + 1);
  frame.wants_text = ImGui::GetIO().WantTextInput;
  frame.lists.reserve(static_cast<std::size_t>(drawn.CmdListsCount));
  for (int i = 0; i < drawn.CmdListsCount; ++i) frame.lists.push_back(Capture(*drawn.CmdLists[i]));
  return frame;
}

}  // namespace traceinject
