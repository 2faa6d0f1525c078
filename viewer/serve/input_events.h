// SPDX-License-Identifier: Apache-2.0
// What a browser tells of its user, in order. A message holds one or more events, each a byte that
// says which and then its fields; numbers are little-endian, a text is its length in two bytes and
// its bytes in UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viewer/core/timeline/input_queue.h"

namespace traceinject {

struct ScreenSize {
  int width_px = 0, height_px = 0;
  float scale = 1;  // of text and all else
  bool operator==(const ScreenSize&) const = default;
};
// The first event of a connection, and only that.
struct Hello {
  std::string token;
  ScreenSize screen;
  bool is_dark = true;
  std::string link;
};
// The frame with this number is on the screen.
struct FrameSeen {
  std::uint32_t frame = 0;
};
// What a link says is to be shown.
struct LinkFollowed {
  std::string link;
};
// What it showed before its connection broke, beyond the link.
struct StateGiven {
  std::string state;
};
// A finger began or ended to move something.
struct Finger {
  bool down = false;
  MousePlace place;
};

using InputEvent = std::variant<Hello, ScreenSize, FrameSeen, LinkFollowed, StateGiven, Modifiers,
                                MousePlace, MouseButton, WheelSteps, KeyPress, TypedText, Finger>;

// The kinds, as the byte before the fields.
enum class InputKind : std::uint8_t {
  kHello,   // token, width: 2 bytes, height: 2 bytes, scale: float, is_dark: 1 byte, link
  kScreen,  // width, height, scale
  kSeen,    // frame: 4 bytes
  kLink,    // link
  kHold,    // bits: 1 control, 2 shift, 4 alt
  kMove,    // x: float, y: float
  kLeave,   // the pointer is elsewhere
  kButton,  // button: 1 byte, down: 1 byte, 2 for the second press of a double click
  kWheel,   // y: float, x: float
  kKey,     // bits as of kHold and 8 repeated, name of the key or nothing, what it types
  kText,    // what was pasted
  kFinger,  // down: 1 byte, x, y
  kState,   // what ViewState() made
};

inline constexpr std::size_t kMaxText = 4096, kMaxState = 32768;  // bytes

// Empty: not such a message; whoever sent it speaks another language.
std::optional<std::vector<InputEvent>> ReadInputEvents(std::string_view message);

}  // namespace traceinject
