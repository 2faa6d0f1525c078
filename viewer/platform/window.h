// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "viewer/core/commands.h"

namespace traceinject {

struct WindowFrame {
  std::vector<Key> keys;             // pressed or repeated since the frame before, in order
  std::vector<std::string> dropped;  // paths of what was dropped onto the window since then
};

// After a frame: whether the next one may wait for input, or what is shown moves by itself.
enum class WindowNext { kWaitForInput, kKeepDrawing, kClose };

// Opens a window with ImGui in it and calls `draw` between NewFrame and Render until the user
// closes it or `draw` says so. Error: there is no display, or it has no OpenGL 3.
Status RunWindow(const std::string& title,
                 const std::function<WindowNext(const WindowFrame&)>& draw);

}  // namespace traceinject
