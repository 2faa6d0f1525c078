// SPDX-License-Identifier: Apache-2.0
// What one does with rows by mouse and by typing, on top of the timeline's column of labels.
#pragma once

#include <array>

#include "viewer/core/timeline/timeline.h"

namespace traceinject {

class RowControls {
 public:
  // Right after the item on which the timeline is drawn; (x, y): its top left on the screen.
  void Draw(Timeline& timeline, float x, float y);

 private:
  void DrawFilter(Timeline& timeline, float x, float y);
  void DrawMenu(Timeline& timeline);

  std::array<char, 128> filter_ = {};
  std::uint32_t menu_row_ = kNone;  // the row that the menu is of
};

}  // namespace traceinject
