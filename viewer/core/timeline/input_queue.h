// SPDX-License-Identifier: Apache-2.0
// Keys and mouse between two frames, in the order in which they came.
//
// ImGui (1.86) is told a state once a frame: of a press and a quick move in one slow frame it would
// see a press where the move ended, and of two clicks one. So a frame gets only as much as a state
// can tell; the rest waits for the next one.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "viewer/core/timeline/keys.h"

namespace traceinject {

inline constexpr std::size_t kMouseButtons = 3;

struct MousePlace {
  float x = 0, y = 0;
  bool operator==(const MousePlace&) const = default;
};
// Of a pointer that is in another window.
inline constexpr MousePlace kNoPlace{-1e9F, -1e9F};

struct MouseButton {
  std::size_t button = 0;
  bool down = false;
  bool twice = false;  // the second press of a double click, where the window system tells
};
struct WheelSteps {
  float y = 0, x = 0;
};

// Characters that were typed or pasted, in UTF-8.
struct TypedText {
  std::string text;
};

struct MouseState {
  MousePlace place = kNoPlace;
  std::array<bool, kMouseButtons> down = {};
  bool twice = false;  // of the last press, as in MouseButton
};

// What one frame is told: keys first, then what they typed, then the mouse.
struct FrameInput {
  std::vector<KeyPress> keys;
  std::string text;
  Modifiers held;
  MouseState mouse;
  WheelSteps wheel;
};

class InputQueue {
 public:
  void Press(const KeyPress& key) { events_.emplace_back(key); }
  // After the press of the key that types it, for windows that tell of both. A frame gets one.
  void Type(TypedText text) { events_.emplace_back(std::move(text)); }
  void Move(const MousePlace& place) { events_.emplace_back(place); }
  // From here on, for the mouse; key presses know theirs.
  void Hold(Modifiers held) { events_.emplace_back(held); }
  // Other buttons than the first kMouseButtons are passed over.
  void Set(const MouseButton& button);
  void Turn(const WheelSteps& steps) { events_.emplace_back(steps); }

  // As much of what came as one frame can be told. Where the mouse is, and what is held, stays
  // until that changes.
  FrameInput Next();
  // Whether nothing waits for another frame.
  bool empty() const { return events_.empty(); }

 private:
  std::deque<std::variant<KeyPress, TypedText, Modifiers, MousePlace, MouseButton, WheelSteps>>
      events_;
  Modifiers held_;
  MouseState mouse_;
};

}  // namespace traceinject
