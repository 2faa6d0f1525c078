// SPDX-License-Identifier: Apache-2.0
// Keys and what is held with them, apart from any window system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace traceinject {

// Letters and digits in order: a key is found by adding to kA or k0.
enum class Key : std::uint8_t {
  kNoKey,
  // clang-format off
  kA, kB, kC, kD, kE, kF, kG, kH, kI, kJ, kK, kL, kM, kN, kO, kP, kQ, kR, kS, kT, kU, kV, kW, kX,
  kY, kZ,
  k0, k1, k2, k3, k4, k5, k6, k7, k8, k9,
  // clang-format on
  // By the character they give, since where they are differs between keyboards.
  kComma,
  kPeriod,
  kSlash,
  kQuestion,
  kLeftBracket,
  kRightBracket,
  kLeft,
  kRight,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnter,
  kEscape,
  kBackspace,
  kDelete,
  kTab,
  kF1,
};
inline constexpr Key kLastKey = Key::kF1;

struct Modifiers {
  bool control = false, shift = false, alt = false;
  bool operator==(const Modifiers&) const = default;
};

// A key with what was held when it went down.
struct KeyPress {
  Key key = Key::kNoKey;
  Modifiers held = {};
  bool repeated = false;  // made by holding the key down

  constexpr KeyPress() = default;
  constexpr KeyPress(Key pressed, Modifiers modifiers = {}, bool again = false)
      : key(pressed), held(modifiers), repeated(again) {}  // NOLINT(google-explicit-constructor)
  // Whether it is the same combination, repeated or not.
  bool Is(const KeyPress& other) const { return key == other.key && held == other.held; }
};

// Keys that are told by their character: Shift belongs to the character and is not held.
std::optional<Key> KeyOfCharacter(unsigned character);

std::string KeyName(Key key);
// "Ctrl+Shift+P"; empty for no key.
std::string KeyPressName(const KeyPress& press);
// The inverse; letters may be small. Empty if there is no such key.
std::optional<KeyPress> ParseKeyPress(std::string_view name);

}  // namespace traceinject
