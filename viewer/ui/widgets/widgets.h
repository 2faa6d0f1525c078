// SPDX-License-Identifier: Apache-2.0
// Small pieces that several panels are made of.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/view/style/canvas.h"
#include "analyzer/view/style/sizes.h"
#include "viewer/ui/widgets/imgui_theme.h"

namespace traceinject {

// Where the last frame drew what can be clicked, by name, in pixels of the window: for scripts and
// tests.
class Controls {
 public:
  void Clear() { boxes_.clear(); }
  // The last item drawn.
  void NoteItem(const std::string& name);
  std::optional<Box> Find(const std::string& name) const;

 private:
  std::map<std::string, Box> boxes_;
};

// Of the font that is used now.
Sizes ScreenSizes();

// Text as it is; `%` means nothing.
void Put(std::string_view text);
void PutColored(const ImVec4& color, std::string_view text);
// Broken into lines at the right edge of the column or window.
void PutWrapped(const ImVec4& color, std::string_view text);
// On one line, which ends with "..." where it had to be cut: in the room that is given, else at the
// right edge of the column or window.
void PutCut(const ImVec4& color, std::string_view text,
            std::optional<float> room_px = std::nullopt);
// Text from a recording on one line: control characters and broken UTF-8 are replaced, the middle
// of a long one gives way.
std::string OneLine(std::string_view recorded, std::size_t most_bytes = 120);
// Wrapped text that can be clicked, with an arrow in front. True when it was clicked.
bool PutLink(const char* id, std::string_view label);
// A bar from the cursor to the right edge, `share` of it filled, with a text over it.
void PutBar(double share, Rgba color, const std::string& text);

}  // namespace traceinject
