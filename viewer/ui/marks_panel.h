// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "viewer/core/workspace.h"

namespace traceinject {

// The list of marks: time, text, colour; a click selects, a double click jumps there. Text and
// colour of the selected one can be changed.
class MarksPanel {
 public:
  // Every frame while it is shown.
  void Draw(Workspace& workspace);

 private:
  void DrawList(Workspace& workspace);
  void DrawEditor(Workspace& workspace);

  std::array<char, kMostMarkTextBytes + 1> text_ = {};
  std::optional<Mark> edited_;  // as it was when its text was put into text_
};

}  // namespace traceinject
