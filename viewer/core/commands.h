// SPDX-License-Identifier: Apache-2.0
// Everything the keyboard can do, in one table: it drives the keys, the help panel and a test that
// no key means two things.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace traceinject {

enum class CommandId : std::uint8_t {
  kZoomIn,
  kZoomOut,
  kPanLeft,
  kPanRight,
  kScrollUp,
  kScrollDown,
  kFitSelection,
  kShowAll,
  kPreviousView,
  kPreviousEvent,
  kNextEvent,
  kLaunchOrLaunched,
  kClear,
  kHelp,
  kCollapse,
  kPinRow,
  kHideRow,
  kMoveRowUp,
  kMoveRowDown,
  kResetRows,
  kTheme,
  kColours,
};

// Keys with a meaning, apart from any window system.
enum class Key : std::uint8_t {
  kNoKey,
  kA,
  kD,
  kF,
  kL,
  kS,
  kW,
  k0,
  kComma,
  kPeriod,
  kQuestion,
  kLeft,
  kRight,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEscape,
  kBackspace,
  kF1,
  kC,
  kH,
  kK,
  kP,
  kT,
};

struct Command {
  CommandId id;
  std::string_view title;
  Key key;
  Key other_key;  // does the same; kNoKey: there is none
  std::string_view help;
};

// What the mouse does, for the help panel.
struct MouseHelp {
  std::string_view gesture, help;
};

std::span<const Command> Commands();
std::span<const MouseHelp> MouseGestures();
std::optional<CommandId> CommandFor(Key key);
std::string_view KeyName(Key key);
// "W" or "Home or 0"; "row menu" for what has no key.
std::string KeysOf(const Command& command);

}  // namespace traceinject
