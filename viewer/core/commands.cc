// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/commands.h"

namespace traceinject {
namespace {

constexpr Command kCommands[] = {
    {CommandId::kZoomIn, "zoom in", Key::kW, Key::kNoKey, "less time, at the pointer"},
    {CommandId::kZoomOut, "zoom out", Key::kS, Key::kNoKey, "more time, at the pointer"},
    {CommandId::kPanLeft, "earlier", Key::kA, Key::kLeft, "move to earlier times"},
    {CommandId::kPanRight, "later", Key::kD, Key::kRight, "move to later times"},
    {CommandId::kScrollUp, "rows up", Key::kUp, Key::kPageUp, "scroll to the rows above"},
    {CommandId::kScrollDown, "rows down", Key::kDown, Key::kPageDown, "scroll to the rows below"},
    {CommandId::kFitSelection, "fit", Key::kF, Key::kNoKey,
     "zoom to the measured range or the selected event"},
    {CommandId::kShowAll, "whole run", Key::kHome, Key::k0, "show all of the recording"},
    {CommandId::kPreviousView, "back", Key::kBackspace, Key::kNoKey,
     "the view before the last jump"},
    {CommandId::kPreviousEvent, "previous event", Key::kComma, Key::kNoKey,
     "select the event before, in the same lane"},
    {CommandId::kNextEvent, "next event", Key::kPeriod, Key::kNoKey,
     "select the event after, in the same lane"},
    {CommandId::kLaunchOrLaunched, "launch", Key::kL, Key::kNoKey,
     "from a GPU operation to the call that launched it, and from a call to what it launched"},
    {CommandId::kClear, "clear", Key::kEscape, Key::kNoKey, "drop measurement, selection, help"},
    {CommandId::kHelp, "help", Key::kQuestion, Key::kF1, "show or hide this list"},
    {CommandId::kCollapse, "fold", Key::kC, Key::kNoKey,
     "fold up or open the group of the row under the pointer"},
    {CommandId::kPinRow, "pin", Key::kP, Key::kNoKey,
     "keep the row under the pointer at the top, or put it back"},
    {CommandId::kHideRow, "hide", Key::kH, Key::kNoKey, "hide the row under the pointer"},
    {CommandId::kMoveRowUp, "move up", Key::kNoKey, Key::kNoKey,
     "move the row under the pointer up within its group"},
    {CommandId::kMoveRowDown, "move down", Key::kNoKey, Key::kNoKey,
     "move the row under the pointer down within its group"},
    {CommandId::kResetRows, "reset rows", Key::kNoKey, Key::kNoKey,
     "show all rows, in their first order, without a filter"},
    {CommandId::kTheme, "theme", Key::kT, Key::kNoKey, "light or dark"},
    {CommandId::kColours, "colours", Key::kK, Key::kNoKey,
     "colour GPU operations by class, by name or by stream"},
};

constexpr MouseHelp kMouse[] = {
    {"wheel", "scroll the rows"},
    {"Ctrl+wheel", "zoom at the pointer"},
    {"Shift+wheel", "move in time"},
    {"click", "select the event under the pointer"},
    {"double click", "select it and zoom to it"},
    {"drag", "measure: duration, events, busy time; snaps to event edges"},
    {"right drag", "move in time and over the rows"},
    {"click a triangle", "fold up or open a group of rows"},
    {"right click a label", "row menu: pin, hide, move, reset"},
    {"overview: click, drag",
     "go there; move the box or one of its edges; beside it: take that stretch"},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }
std::span<const MouseHelp> MouseGestures() { return kMouse; }

std::optional<CommandId> CommandFor(Key key) {
  if (key == Key::kNoKey) return std::nullopt;
  for (const Command& command : kCommands) {
    if (command.key == key || command.other_key == key) return command.id;
  }
  return std::nullopt;
}

std::string_view KeyName(Key key) {
  switch (key) {
    case Key::kNoKey:
      return "";
    case Key::kA:
      return "A";
    case Key::kD:
      return "D";
    case Key::kF:
      return "F";
    case Key::kL:
      return "L";
    case Key::kS:
      return "S";
    case Key::kW:
      return "W";
    case Key::k0:
      return "0";
    case Key::kComma:
      return ",";
    case Key::kPeriod:
      return ".";
    case Key::kQuestion:
      return "?";
    case Key::kLeft:
      return "Left";
    case Key::kRight:
      return "Right";
    case Key::kUp:
      return "Up";
    case Key::kDown:
      return "Down";
    case Key::kPageUp:
      return "PageUp";
    case Key::kPageDown:
      return "PageDown";
    case Key::kHome:
      return "Home";
    case Key::kEscape:
      return "Esc";
    case Key::kBackspace:
      return "Backspace";
    case Key::kF1:
      return "F1";
    case Key::kC:
      return "C";
    case Key::kH:
      return "H";
    case Key::kK:
      return "K";
    case Key::kP:
      return "P";
    case Key::kT:
      return "T";
  }
  return "";
}

std::string KeysOf(const Command& command) {
  if (command.key == Key::kNoKey) return "row menu";
  std::string keys(KeyName(command.key));
  if (command.other_key != Key::kNoKey) keys.append(" or ").append(KeyName(command.other_key));
  return keys;
}

}  // namespace traceinject
