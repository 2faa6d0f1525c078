// SPDX-License-Identifier: Apache-2.0
// Everything that can be done, in one table: it drives the keys, the menus, the help panel, the
// command palette and scripts. Tests walk it: no key means two things, and each command has a test.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/core/timeline/keys.h"

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
  kFollowLinkBack,
  kFollowLink,
  kMeasureSelection,
  kOpenEditor,
  kFind,
  kMark,
  kNewMark,
  kDeleteMark,
  kMarks,
  kDetails,
  kClear,
  kPalette,
  kOpenRecording,
  kQuit,
  kHelp,
  kCollapse,
  kPinRow,
  kHideRow,
  kMoveRowUp,
  kMoveRowDown,
  kSortRanks,
  kFoldRanks,
  kQuietRows,
  kResetRows,
  kTheme,
  kColors,
  kCopyLink,
  kSavePicture,
};

// The menu that a command stands in.
enum class CommandGroup : std::uint8_t { kFile, kView, kEvent, kMarks, kRows, kWindow };

// Where the timeline is shown. What acts on the machine with the recording is not for a browser on
// another one.
enum class ShownIn : std::uint8_t { kWindow, kBrowser };

struct Command {
  CommandId id;
  CommandGroup group;
  std::string_view name;  // in scripts and --dump-state
  std::string_view title;
  KeyPress key;
  KeyPress other_key;  // does the same; kNoKey: there is none
  bool repeats;        // when the key is held down
  std::string_view help;
};

// What the mouse does.
enum class GestureId : std::uint8_t {
  kWheel,
  kControlWheel,
  kShiftWheel,
  kHover,
  kClick,
  kControlClick,
  kDoubleClick,
  kDrag,
  kAltDrag,
  kEdgeDrag,
  kRightDrag,
  kShiftDrag,
  kMiddleDrag,
  kMarkClick,
  kFold,
  kRowMenu,
  kOverview,
};

struct Gesture {
  GestureId id;
  std::string_view gesture, help;
};

std::span<const Command> Commands();
std::span<const Gesture> Gestures();
std::string_view GroupTitle(CommandGroup group);

// What a key does; empty if nothing, or if it is held down and the command is not to be repeated.
std::optional<CommandId> CommandFor(const KeyPress& press);
// Whether it can be done there.
bool IsOffered(CommandId command, ShownIn place);
// By its name in scripts.
std::optional<CommandId> CommandNamed(std::string_view name);
// "W" or "Home or 0".
std::string KeysOf(const Command& command);

// Commands that are offered there and in whose title or help every word of the text occurs, in any
// case; those with all words in the title first. All of them for an empty text.
std::vector<const Command*> CommandsMatching(std::string_view text, ShownIn place);

}  // namespace traceinject
