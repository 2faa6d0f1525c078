// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "viewer/core/session/workspace.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// The list of marks: time, text, color; a click selects, a double click jumps there. Text and
// color of the selected one can be changed.
class MarksPanel {
 public:
  void Draw(Workspace& workspace, Controls& controls);

 private:
  void DrawEditor(Workspace& workspace, Controls& controls);

  std::array<char, kMaxMarkTextBytes + 1> text_ = {};
  std::optional<Mark> edited_;  // as it was when its text was put into text_
};

}  // namespace traceinject
