// SPDX-License-Identifier: Apache-2.0
// Pictures without a display: OpenGL through EGL into memory. Works with Mesa's software renderer,
// and with a GPU's driver where that offers EGL.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

struct Image {
  int width_px = 0, height_px = 0;
  std::vector<std::uint8_t> rgb;  // 3 bytes a pixel, rows from the top
};

// Calls `draw` between ImGui's NewFrame and Render, for as many frames as a layout needs to settle,
// and returns the last one. The same calls give the same pixels. Error: no EGL, or no OpenGL 3.3.
Result<Image> RenderOffscreen(int width_px, int height_px, const std::function<void()>& draw);

// Error: the file cannot be written.
Status WritePng(const std::string& path, const Image& image);

}  // namespace traceinject
