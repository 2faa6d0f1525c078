// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/input_events.h"

#include <cmath>
#include <cstring>
#include <utility>

namespace traceinject {
namespace {

constexpr float kMaxPlace = 1e6F, kMaxSteps = 1e3F;

// Takes fields off a message; once one is missing or is not what it has to be, all are wrong.
class FieldReader {
 public:
  explicit FieldReader(std::string_view message) : rest_(message) {}

  bool at_end() const { return rest_.empty(); }
  bool good() const { return good_; }

  template <typename Number>
  Number Take() {
    Number number{};
    if (rest_.size() < sizeof(Number)) return Fail(number);
    std::memcpy(&number, rest_.data(), sizeof(Number));
    rest_.remove_prefix(sizeof(Number));
    return number;
  }
  float TakeFloat(float most) {
    const auto number = Take<float>();
    return std::isfinite(number) && std::abs(number) <= most ? number : Fail(0.0F);
  }
  bool TakeFlag() {
    const auto flag = Take<std::uint8_t>();
    return flag <= 1 ? flag == 1 : Fail(false);
  }
  std::string TakeText(std::size_t most = kMaxText) {
    const auto size = Take<std::uint16_t>();
    if (size > most || size > rest_.size()) return Fail(std::string());
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  template <typename Value>
  Value Fail(Value value) {
    good_ = false;
    return value;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

ScreenSize TakeScreen(FieldReader& fields) {
  ScreenSize screen;
  screen.width_px = fields.Take<std::uint16_t>();
  screen.height_px = fields.Take<std::uint16_t>();
  screen.scale = fields.TakeFloat(kMaxPlace);
  return screen;
}

Hello TakeHello(FieldReader& fields) {
  Hello hello;
  hello.token = fields.TakeText();
  hello.screen = TakeScreen(fields);
  hello.is_dark = fields.TakeFlag();
  hello.link = fields.TakeText();
  return hello;
}

Modifiers HeldOf(std::uint8_t bits) { return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}; }

MousePlace TakePlace(FieldReader& fields) {
  MousePlace place;
  place.x = fields.TakeFloat(kMaxPlace);
  place.y = fields.TakeFloat(kMaxPlace);
  return place;
}

MouseButton TakeButton(FieldReader& fields) {
  const auto button = fields.Take<std::uint8_t>();
  const auto down = fields.Take<std::uint8_t>();
  if (button >= kMouseButtons || down > 2) fields.Fail(0);
  return {button, down > 0, down == 2};
}

WheelSteps TakeWheel(FieldReader& fields) {
  WheelSteps steps;
  steps.y = fields.TakeFloat(kMaxSteps);
  steps.x = fields.TakeFloat(kMaxSteps);
  return steps;
}

// Keys that we have no name for type something all the same.
void AddKey(FieldReader& fields, std::vector<InputEvent>& events) {
  const auto bits = fields.Take<std::uint8_t>();
  if (bits >= 16) fields.Fail(0);
  const std::string name = fields.TakeText();
  std::string text = fields.TakeText();
  const std::optional<KeyPress> key = ParseKeyPress(name);
  if (key && key->held == Modifiers())
    events.emplace_back(KeyPress(key->key, HeldOf(bits), (bits & 8) != 0));
  events.emplace_back(TypedText{std::move(text)});
}

bool AddEvent(InputKind kind, FieldReader& fields, std::vector<InputEvent>& events) {
  switch (kind) {
    case InputKind::kHello:
      events.emplace_back(TakeHello(fields));
      break;
    case InputKind::kScreen:
      events.emplace_back(TakeScreen(fields));
      break;
    case InputKind::kSeen:
      events.emplace_back(FrameSeen{fields.Take<std::uint32_t>()});
      break;
    case InputKind::kLink:
      events.emplace_back(LinkFollowed{fields.TakeText()});
      break;
    case InputKind::kHold:
      events.emplace_back(HeldOf(fields.Take<std::uint8_t>()));
      break;
    case InputKind::kMove:
      events.emplace_back(TakePlace(fields));
      break;
    case InputKind::kLeave:
      events.emplace_back(kNoPlace);
      break;
    case InputKind::kButton:
      events.emplace_back(TakeButton(fields));
      break;
    case InputKind::kWheel:
      events.emplace_back(TakeWheel(fields));
      break;
    case InputKind::kKey:
      AddKey(fields, events);
      break;
    case InputKind::kText:
      events.emplace_back(TypedText{fields.TakeText()});
      break;
    case InputKind::kFinger: {
      const bool down = fields.TakeFlag();
      events.emplace_back(Finger{down, TakePlace(fields)});
      break;
    }
    case InputKind::kState:
      events.emplace_back(StateGiven{fields.TakeText(kMaxState)});
      break;
    default:
      return false;
  }
  return fields.good();
}

}  // namespace

std::optional<std::vector<InputEvent>> ReadInputEvents(std::string_view message) {
  FieldReader fields(message);
  std::vector<InputEvent> events;
  while (!fields.at_end()) {
    const auto kind = static_cast<InputKind>(fields.Take<std::uint8_t>());
    if (!AddEvent(kind, fields, events)) return std::nullopt;
  }
  return events;
}

}  // namespace traceinject
