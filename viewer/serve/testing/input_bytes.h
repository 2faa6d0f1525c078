// SPDX-License-Identifier: Apache-2.0
// For tests: what the page sends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "viewer/serve/input_events.h"

namespace traceinject {

class InputBytes {
 public:
  explicit InputBytes(InputKind kind) { Add(static_cast<std::uint8_t>(kind)); }

  template <typename Number>
  InputBytes& Add(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));
    return *this;
  }
  InputBytes& Text(std::string_view text) {
    Add(static_cast<std::uint16_t>(text.size()));
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::uint8_t HeldBits(Modifiers held) {
  return static_cast<std::uint8_t>((held.control ? 1 : 0) | (held.shift ? 2 : 0) |
                                   (held.alt ? 4 : 0));
}

inline std::string HelloBytes(std::string_view token, std::uint16_t width, std::uint16_t height,
                              std::string_view link = "") {
  return InputBytes(InputKind::kHello)
      .Text(token)
      .Add(width)
      .Add(height)
      .Add(1.0F)
      .Add(std::uint8_t{1})
      .Text(link)
      .bytes();
}
inline std::string KeyBytes(const KeyPress& press, std::string_view typed = "") {
  const auto bits = static_cast<std::uint8_t>(HeldBits(press.held) | (press.repeated ? 8 : 0));
  return InputBytes(InputKind::kKey).Add(bits).Text(KeyName(press.key)).Text(typed).bytes();
}
inline std::string MoveBytes(float x, float y) {
  return InputBytes(InputKind::kMove).Add(x).Add(y).bytes();
}
inline std::string ButtonBytes(std::uint8_t button, bool down, bool twice = false) {
  const auto how = static_cast<std::uint8_t>(down && twice ? 2 : down ? 1 : 0);
  return InputBytes(InputKind::kButton).Add(button).Add(how).bytes();
}
inline std::string WheelBytes(float y, float x) {
  return InputBytes(InputKind::kWheel).Add(y).Add(x).bytes();
}
inline std::string HoldBytes(Modifiers held) {
  return InputBytes(InputKind::kHold).Add(HeldBits(held)).bytes();
}
inline std::string FingerBytes(bool down, float x, float y) {
  return InputBytes(InputKind::kFinger).Add(std::uint8_t{down}).Add(x).Add(y).bytes();
}

}  // namespace traceinject
