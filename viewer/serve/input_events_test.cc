// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/input_events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "viewer/core/timeline/commands.h"
#include "viewer/serve/testing/input_bytes.h"

namespace traceinject {
namespace {

// One of each kind.
std::vector<std::string> ValidMessages() {
  return {HelloBytes("secret", 1280, 900, "t=1s..2s"),
          InputBytes(InputKind::kScreen)
              .Add(std::uint16_t{640})
              .Add(std::uint16_t{480})
              .Add(2.0F)
              .bytes(),
          InputBytes(InputKind::kSeen).Add(std::uint32_t{17}).bytes(),
          InputBytes(InputKind::kLink).Text("row=GPU%200").bytes(),
          HoldBytes({.control = true, .alt = true}),
          MoveBytes(3.5F, -4),
          InputBytes(InputKind::kLeave).bytes(),
          ButtonBytes(2, true, true),
          WheelBytes(-1, 0.5F),
          KeyBytes({Key::kP, {.control = true, .shift = true}, true}),
          KeyBytes(Key::kSlash, "/"),
          InputBytes(InputKind::kText).Text("pasted \xC3\xA9").bytes(),
          FingerBytes(true, 100, 200),
          InputBytes(InputKind::kState).Text(std::string(kMaxState, 's')).bytes()};
}

template <typename Event>
Event Only(const std::string& message) {
  const auto events = ReadInputEvents(message);
  if (!events || events->size() != 1 || !std::holds_alternative<Event>(events->front())) {
    ADD_FAILURE() << "not one such event";
    return {};
  }
  return std::get<Event>(events->front());
}

TEST(InputEvents, EachIsReadAsItWasSent) {
  const std::vector<std::string> messages = ValidMessages();
  const auto hello = Only<Hello>(messages[0]);
  EXPECT_EQ(hello.token, "secret");
  EXPECT_EQ(hello.screen, (ScreenSize{1280, 900, 1}));
  EXPECT_TRUE(hello.is_dark);
  EXPECT_EQ(hello.link, "t=1s..2s");
  EXPECT_EQ(Only<ScreenSize>(messages[1]), (ScreenSize{640, 480, 2}));
  EXPECT_EQ(Only<FrameSeen>(messages[2]).frame, 17U);
  EXPECT_EQ(Only<LinkFollowed>(messages[3]).link, "row=GPU%200");
  EXPECT_EQ(Only<Modifiers>(messages[4]), (Modifiers{.control = true, .alt = true}));
  EXPECT_EQ(Only<MousePlace>(messages[5]), (MousePlace{3.5F, -4}));
  EXPECT_EQ(Only<MousePlace>(messages[6]), kNoPlace);
  EXPECT_EQ(Only<MouseButton>(messages[7]).button, 2U);
  EXPECT_TRUE(Only<MouseButton>(messages[7]).down);
  EXPECT_TRUE(Only<MouseButton>(messages[7]).twice);
  EXPECT_FALSE(Only<MouseButton>(ButtonBytes(2, true)).twice);
  EXPECT_EQ(Only<WheelSteps>(messages[8]).y, -1);
  EXPECT_EQ(Only<WheelSteps>(messages[8]).x, 0.5F);
  EXPECT_EQ(Only<TypedText>(messages[11]).text, "pasted \xC3\xA9");
  EXPECT_TRUE(Only<Finger>(messages[12]).down);
  EXPECT_EQ(Only<Finger>(messages[12]).place, (MousePlace{100, 200}));
  EXPECT_EQ(Only<StateGiven>(messages[13]).state.size(), kMaxState);
}

// The table that drives the window drives the page.
TEST(InputEvents, EveryKeyOfEveryCommandArrives) {
  for (const Command& command : Commands()) {
    for (const KeyPress& press : {command.key, command.other_key}) {
      if (press.key == Key::kNoKey) continue;
      const auto events = ReadInputEvents(KeyBytes(press));
      ASSERT_TRUE(events && events->size() == 2) << command.title;
      EXPECT_EQ(CommandFor(std::get<KeyPress>(events->front())), command.id);
    }
  }
}

TEST(InputEvents, AKeyWithoutANameTypesSomething) {
  const std::string message =
      InputBytes(InputKind::kKey).Add(std::uint8_t{0}).Text("").Text("\xC3\xA9").bytes();
  EXPECT_EQ(Only<TypedText>(message).text, "\xC3\xA9");
}

TEST(InputEvents, EventsKeepTheirOrder) {
  const auto events = ReadInputEvents(MoveBytes(1, 2) + ButtonBytes(0, true) + MoveBytes(3, 4));
  ASSERT_TRUE(events && events->size() == 3);
  EXPECT_EQ(std::get<MousePlace>(events->at(0)), (MousePlace{1, 2}));
  EXPECT_TRUE(std::get<MouseButton>(events->at(1)).down);
  EXPECT_EQ(std::get<MousePlace>(events->at(2)), (MousePlace{3, 4}));
}

TEST(InputEvents, WhatIsNoneEndsIt) {
  const float infinite = std::numeric_limits<float>::infinity();
  for (const std::string& wrong :
       {std::string("\x63"), MoveBytes(std::nanf(""), 0), MoveBytes(0, infinite),
        MoveBytes(2e6F, 0), WheelBytes(1e4F, 0), ButtonBytes(3, true),
        InputBytes(InputKind::kButton).Add(std::uint8_t{0}).Add(std::uint8_t{7}).bytes(),
        InputBytes(InputKind::kKey).Add(std::uint8_t{16}).Text("A").Text("").bytes(),
        InputBytes(InputKind::kText).Text(std::string(kMaxText + 1, 'a')).bytes(),
        InputBytes(InputKind::kState).Text(std::string(kMaxState + 1, 's')).bytes()}) {
    EXPECT_FALSE(ReadInputEvents(wrong).has_value());
  }
  for (const std::string& message : ValidMessages()) {
    for (std::size_t size = 1; size < std::min<std::size_t>(message.size(), 200); ++size) {
      EXPECT_FALSE(ReadInputEvents(message.substr(0, size)).has_value()) << "cut at " << size;
    }
  }
}

// None crashes, and what is taken for good is within bounds.
TEST(InputEvents, MutationsAreReadOrRefused) {
  constexpr int kRounds = 100'000;
  std::mt19937 random(20'261);
  const auto below = [&random](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  const std::vector<std::string> valid = ValidMessages();
  int refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::string message = valid[below(valid.size())] + valid[below(valid.size())];
    for (std::size_t change = below(4) + 1; change > 0; --change) {
      const std::size_t at = below(message.size());
      switch (below(4)) {
        case 0:
          message[at] = static_cast<char>(below(256));
          break;
        case 1:
          message.erase(at, below(8));
          break;
        case 2:
          message.insert(at, 1, static_cast<char>(below(256)));
          break;
        default:
          message[at] = static_cast<char>(message[at] ^ (1 << below(8)));
          break;
      }
      if (message.empty()) message = "\x63";
    }
    const auto events = ReadInputEvents(message);
    if (!events) {
      ++refused;
      continue;
    }
    for (const InputEvent& event : *events) {
      if (const auto* const place = std::get_if<MousePlace>(&event)) {
        ASSERT_TRUE(*place == kNoPlace || std::abs(place->x) <= 1e6F);
      } else if (const auto* const button = std::get_if<MouseButton>(&event)) {
        ASSERT_LT(button->button, kMouseButtons);
      } else if (const auto* const key = std::get_if<KeyPress>(&event)) {
        ASSERT_LE(key->key, kLastKey);
      }
    }
  }
  EXPECT_GT(refused, kRounds / 4);
  EXPECT_LT(refused, kRounds);
}

}  // namespace
}  // namespace traceinject
