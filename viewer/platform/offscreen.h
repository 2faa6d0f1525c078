// SPDX-License-Identifier: Apache-2.0
// Pictures without a display: OpenGL through EGL into memory. Works with Mesa's software renderer,
// and with a GPU's driver where that offers EGL.
#pragma once

#include <functional>
#include <memory>

#include "analyzer/common/result.h"
#include "viewer/core/paint/png.h"

namespace traceinject {

// A screen in memory with ImGui on it. One at a time.
class OffscreenScreen {
 public:
  // Error: no EGL, no OpenGL 3.3, or no picture of that size.
  static Result<std::unique_ptr<OffscreenScreen>> Open(int width_px, int height_px, float scale);
  ~OffscreenScreen();

  // One frame: `draw` is called between ImGui's NewFrame and Render. The same calls give the same
  // pixels.
  void Frame(const std::function<void()>& draw);
  // The last frame.
  Image Read() const;

 private:
  struct State;
  explicit OffscreenScreen(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace traceinject
