// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/commands.h"

#include <cctype>

namespace traceinject {
namespace {

constexpr Modifiers kControl{.control = true};
constexpr Modifiers kShift{.shift = true};
constexpr Modifiers kAlt{.alt = true};
constexpr Modifiers kControlShift{.control = true, .shift = true};
constexpr KeyPress kNoOther;
constexpr bool kRepeats = true, kOnce = false;

constexpr Command kCommands[] = {
    {CommandId::kZoomIn, CommandGroup::kView, "zoom-in", "Zoom in", Key::kW, kNoOther, kRepeats,
     "zoom in at the pointer"},
    {CommandId::kZoomOut, CommandGroup::kView, "zoom-out", "Zoom out", Key::kS, kNoOther, kRepeats,
     "zoom out at the pointer"},
    {CommandId::kPanLeft, CommandGroup::kView, "earlier", "Earlier", Key::kA, Key::kLeft, kRepeats,
     "pan to earlier times"},
    {CommandId::kPanRight, CommandGroup::kView, "later", "Later", Key::kD, Key::kRight, kRepeats,
     "pan to later times"},
    {CommandId::kScrollUp, CommandGroup::kView, "rows-up", "Rows up", Key::kUp, Key::kPageUp,
     kRepeats, "scroll to the rows above"},
    {CommandId::kScrollDown, CommandGroup::kView, "rows-down", "Rows down", Key::kDown,
     Key::kPageDown, kRepeats, "scroll to the rows below"},
    {CommandId::kFitSelection, CommandGroup::kView, "fit", "Zoom to range or selection", Key::kF,
     kNoOther, kOnce, "zoom to the measured range, the selected mark or the selected event"},
    {CommandId::kShowAll, CommandGroup::kView, "whole-run", "Whole run", Key::kHome, Key::k0, kOnce,
     "show the whole recording"},
    {CommandId::kPreviousView, CommandGroup::kView, "back", "Previous view", Key::kBackspace,
     kNoOther, kRepeats, "the view before the last jump or before the last zoom and pan"},

    {CommandId::kFind,
     CommandGroup::kEvent,
     "find",
     "Find...",
     Key::kSlash,
     {Key::kF, kControl},
     kOnce,
     "find events by name"},
    {CommandId::kPreviousEvent, CommandGroup::kEvent, "previous-event", "Previous event",
     Key::kComma, kNoOther, kRepeats, "select the previous event in the same lane"},
    {CommandId::kNextEvent, CommandGroup::kEvent, "next-event", "Next event", Key::kPeriod,
     kNoOther, kRepeats, "select the event after, in the same lane"},
    {CommandId::kFollowLinkBack, CommandGroup::kEvent, "follow-back", "Follow link back",
     Key::kLeftBracket, kNoOther, kOnce,
     "to the call that launched the event, or to the same collective on the previous rank"},
    {CommandId::kFollowLink, CommandGroup::kEvent, "follow", "Follow link", Key::kRightBracket,
     kNoOther, kOnce, "to what the call launched, or to the same collective on the next rank"},
    {CommandId::kMeasureSelection, CommandGroup::kEvent, "measure-selection",
     "Range from selection", Key::kR, kNoOther, kOnce,
     "measure the duration of the selected event or mark"},
    {CommandId::kOpenEditor, CommandGroup::kEvent, "open-editor", "Open in editor", Key::kE,
     kNoOther, kOnce, "open the selected line of code in $VISUAL or $EDITOR"},

    {CommandId::kMark, CommandGroup::kMarks, "mark", "Mark", Key::kM, kNoOther, kOnce,
     "mark the measured range or the time at the pointer; moves the last mark if it has no text"},
    {CommandId::kNewMark,
     CommandGroup::kMarks,
     "new-mark",
     "New mark with text",
     {Key::kM, kShift},
     kNoOther,
     kOnce,
     "always add a new mark, and enter its text"},
    {CommandId::kDeleteMark, CommandGroup::kMarks, "delete-mark", "Delete mark", Key::kDelete,
     kNoOther, kOnce, "delete the selected mark"},
    {CommandId::kMarks,
     CommandGroup::kMarks,
     "marks",
     "List of marks",
     {Key::kM, kControl},
     kNoOther,
     kOnce,
     "show the list of marks: text, color, jump to, delete"},

    {CommandId::kCollapse, CommandGroup::kRows, "fold", "Collapse or expand", Key::kC, kNoOther,
     kOnce, "collapse or expand the group of the row under the pointer"},
    {CommandId::kPinRow, CommandGroup::kRows, "pin", "Pin row", Key::kP, kNoOther, kOnce,
     "pin the row under the pointer at the top, or unpin it"},
    {CommandId::kHideRow, CommandGroup::kRows, "hide", "Hide row", Key::kH, kNoOther, kOnce,
     "hide the row under the pointer"},
    {CommandId::kMoveRowUp,
     CommandGroup::kRows,
     "row-up",
     "Move row up",
     {Key::kUp, kAlt},
     kNoOther,
     kRepeats,
     "move the row under the pointer up within its group"},
    {CommandId::kMoveRowDown,
     CommandGroup::kRows,
     "row-down",
     "Move row down",
     {Key::kDown, kAlt},
     kNoOther,
     kRepeats,
     "move the row under the pointer down within its group"},
    {CommandId::kSortRanks, CommandGroup::kRows, "sort-ranks", "Sort ranks by lateness", Key::kL,
     kNoOther, kOnce,
     "ranks that delayed others longest by arriving last come first; again: by number"},
    {CommandId::kFoldRanks,
     CommandGroup::kRows,
     "fold-ranks",
     "Collapse or expand all ranks",
     {Key::kC, kShift},
     kNoOther,
     kOnce,
     "collapse all ranks, a line each; again: expand them"},
    {CommandId::kQuietRows, CommandGroup::kRows, "idle-rows", "Rows without events", Key::kI,
     kNoOther, kOnce, "show or fold away streams and threads without events in the visible time"},
    {CommandId::kResetRows,
     CommandGroup::kRows,
     "reset-rows",
     "Reset rows",
     {Key::kH, kShift},
     kNoOther,
     kOnce,
     "show all rows in their original order, without a filter"},

    {CommandId::kCopyLink, CommandGroup::kFile, "copy-link", "Copy link", Key::kY, kNoOther, kOnce,
     "in a browser: copy the address of this view: time, row, selected event"},
    {CommandId::kSavePicture,
     CommandGroup::kFile,
     "save-picture",
     "Save PNG",
     {Key::kS, kControl},
     kNoOther,
     kOnce,
     "in a browser: save what is shown as a picture"},
    {CommandId::kOpenRecording,
     CommandGroup::kFile,
     "open",
     "Open...",
     {Key::kO, kControl},
     kNoOther,
     kOnce,
     "open another recording: type its path, or choose it from a list"},
    {CommandId::kQuit,
     CommandGroup::kFile,
     "quit",
     "Quit",
     {Key::kQ, kControl},
     kNoOther,
     kOnce,
     "close the window"},

    {CommandId::kDetails, CommandGroup::kWindow, "details", "Details", Key::kQ, kNoOther, kOnce,
     "show or hide details of the selected event"},
    {CommandId::kTheme, CommandGroup::kWindow, "theme", "Light or dark", Key::kT, kNoOther, kOnce,
     "switch between light and dark"},
    {CommandId::kColors, CommandGroup::kWindow, "colours", "Colors", Key::kK, kNoOther, kOnce,
     "color GPU operations by class, name or stream"},
    {CommandId::kClear, CommandGroup::kWindow, "clear", "Close or clear", Key::kEscape, kNoOther,
     kOnce, "close the topmost panel; else clear the range, then the selection"},
    {CommandId::kPalette,
     CommandGroup::kWindow,
     "palette",
     "All commands...",
     {Key::kP, kControlShift},
     kNoOther,
     kOnce,
     "search commands"},
    {CommandId::kHelp, CommandGroup::kWindow, "help", "Keys and mouse", Key::kQuestion, Key::kF1,
     kOnce, "show or hide this list"},
};

constexpr Gesture kGestures[] = {
    {GestureId::kWheel, "wheel", "scroll the rows"},
    {GestureId::kControlWheel, "Ctrl+wheel", "zoom at the pointer"},
    {GestureId::kShiftWheel, "Shift+wheel", "pan in time"},
    {GestureId::kHover, "hover", "name and time of an event; highlights linked events"},
    {GestureId::kClick, "click", "select the event under the pointer"},
    {GestureId::kControlClick, "Ctrl+click", "open the line of code in $VISUAL or $EDITOR"},
    {GestureId::kDoubleClick, "double click", "select the event and zoom to it"},
    {GestureId::kDrag, "drag", "measure: duration, events, busy time; snaps to event edges"},
    {GestureId::kAltDrag, "Alt+drag", "measure without snapping"},
    {GestureId::kEdgeDrag, "drag an edge", "adjust the measured range"},
    {GestureId::kRightDrag, "right drag", "pan in time and across rows"},
    {GestureId::kShiftDrag, "Shift+drag", "the same"},
    {GestureId::kMiddleDrag, "middle drag", "zoom to the range"},
    {GestureId::kMarkClick, "click a mark", "select the mark; its flag is on the ruler"},
    {GestureId::kFold, "click a triangle", "collapse or expand a group of rows"},
    {GestureId::kRowMenu, "right-click a label", "row menu: pin, hide, move, reset"},
    {GestureId::kOverview, "click or drag the overview",
     "go there; move the box or one of its edges; outside it: select that range"},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Whether every word of `words` occurs in `text`. Both in small letters.
bool HasWords(const std::string& text, std::string_view words) {
  while (true) {
    const std::size_t begin = words.find_first_not_of(' ');
    if (begin == std::string_view::npos) return true;
    words.remove_prefix(begin);
    const std::string_view word = words.substr(0, words.find(' '));
    if (text.find(word) == std::string::npos) return false;
    words.remove_prefix(word.size());
  }
}

}  // namespace

std::span<const Command> Commands() { return kCommands; }
std::span<const Gesture> Gestures() { return kGestures; }

std::string_view GroupTitle(CommandGroup group) {
  constexpr std::string_view kTitles[] = {"File", "View", "Event", "Marks", "Rows", "Window"};
  return kTitles[static_cast<std::size_t>(group)];
}

std::optional<CommandId> CommandFor(const KeyPress& press) {
  if (press.key == Key::kNoKey) return std::nullopt;
  for (const Command& command : kCommands) {
    if (!press.Is(command.key) && !press.Is(command.other_key)) continue;
    if (press.repeated && !command.repeats) return std::nullopt;
    return command.id;
  }
  return std::nullopt;
}

bool IsOffered(CommandId command, ShownIn place) {
  switch (command) {
    case CommandId::kCopyLink:
    case CommandId::kSavePicture:
      return place == ShownIn::kBrowser;
    case CommandId::kOpenEditor:
    case CommandId::kOpenRecording:
    case CommandId::kQuit:
      return place == ShownIn::kWindow;
    default:
      return true;
  }
}

std::optional<CommandId> CommandNamed(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return command.id;
  }
  return std::nullopt;
}

std::string KeysOf(const Command& command) {
  std::string keys = KeyPressName(command.key);
  if (command.other_key.key != Key::kNoKey) keys += " or " + KeyPressName(command.other_key);
  return keys;
}

std::vector<const Command*> CommandsMatching(std::string_view text, ShownIn place) {
  const std::string words = Lower(text);
  std::vector<const Command*> in_title, in_help;
  for (const Command& command : kCommands) {
    if (!IsOffered(command.id, place)) continue;
    const std::string title = Lower(command.title);
    if (HasWords(title, words)) {
      in_title.push_back(&command);
    } else if (HasWords(title + " " + Lower(command.help), words)) {
      in_help.push_back(&command);
    }
  }
  in_title.insert(in_title.end(), in_help.begin(), in_help.end());
  return in_title;
}

}  // namespace traceinject
