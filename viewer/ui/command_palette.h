// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "viewer/core/timeline/commands.h"

namespace traceinject {

// All commands with a line to type into: what is typed narrows them down, Up and Down choose,
// Enter runs.
class CommandPalette {
 public:
  // Every frame while it is open. `keys`: as ViewerUi::Frame. The command that was chosen, if any;
  // the palette is to be closed then.
  std::optional<CommandId> Draw(const std::vector<KeyPress>& keys, ShownIn place);
  // What is typed is forgotten.
  void Close() { open_ = false; }

 private:
  static void DrawLine(const Command& command);

  bool open_ = false;
  std::array<char, 100> text_ = {};
  std::size_t chosen_ = 0;
};

}  // namespace traceinject
