// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "viewer/core/timeline/keys.h"

namespace traceinject {

struct WindowFrame {
  std::vector<KeyPress> keys;        // pressed or repeated since the frame before, in order
  std::vector<std::string> dropped;  // paths of what was dropped onto the window since then
};

// After a frame: whether the next one may wait for input, or what is shown moves by itself.
enum class WindowNext { kWaitForInput, kKeepDrawing, kClose };

class WindowContent {
 public:
  virtual ~WindowContent() = default;
  // Called between ImGui's NewFrame and Render.
  virtual WindowNext Frame(const WindowFrame& frame) = 0;
  // Of the window, for the desktop.
  virtual std::string title() const = 0;
};

// Whether the environment names a display.
bool HasDisplay();

// Opens a window with ImGui in it and shows the content until the user closes it or the content
// says so. `scale`: of text and all else; empty: that of the screen. Error: there is no display, or
// it has no OpenGL 3.
Status RunWindow(WindowContent& content, std::optional<float> scale);

}  // namespace traceinject
