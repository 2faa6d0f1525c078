// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/input_queue.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(InputQueue, ManyMovesAreOneAndThePlaceStays) {
  InputQueue queue;
  EXPECT_EQ(queue.Next().mouse.place, kNoPlace);
  for (int x = 0; x < 100; ++x) queue.Move({static_cast<float>(x), 5});
  EXPECT_EQ(queue.Next().mouse.place, (MousePlace{99, 5}));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.Next().mouse.place, (MousePlace{99, 5}));
}

TEST(InputQueue, AKeyIsToldWithWhatItTypesAndTheNextOneAfterIt) {
  InputQueue queue;
  queue.Press(Key::kSlash);
  queue.Type({"/"});
  queue.Press(Key::kBackspace);
  queue.Type({});
  queue.Press(Key::kBackspace);
  queue.Type({});
  queue.Move({10, 5});
  FrameInput frame = queue.Next();
  ASSERT_EQ(frame.keys.size(), 1U);
  EXPECT_EQ(frame.text, "/");
  EXPECT_EQ(frame.mouse.place, kNoPlace);
  EXPECT_EQ(queue.Next().keys.size(), 1U);
  frame = queue.Next();
  EXPECT_EQ(frame.keys.size(), 1U);
  EXPECT_EQ(frame.text, "");
  EXPECT_EQ(frame.mouse.place, (MousePlace{10, 5}));
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, APressIsToldWhereItWas) {
  InputQueue queue;
  queue.Move({10, 5});
  queue.Set({0, true});
  queue.Move({200, 5});
  queue.Move({300, 5});
  queue.Set({0, false});
  FrameInput frame = queue.Next();
  EXPECT_EQ(frame.mouse.place, (MousePlace{10, 5}));
  EXPECT_TRUE(frame.mouse.down[0]);
  EXPECT_FALSE(queue.empty());
  frame = queue.Next();
  EXPECT_EQ(frame.mouse.place, (MousePlace{300, 5})) << "and let go where that was";
  EXPECT_FALSE(frame.mouse.down[0]);
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, NoClickOfSeveralIsLost) {
  InputQueue queue;
  for (int i = 0; i < 2; ++i) {
    queue.Set({1, true});
    queue.Set({1, false});
  }
  for (const bool down : {true, false, true, false}) {
    EXPECT_FALSE(queue.empty());
    EXPECT_EQ(queue.Next().mouse.down[1], down);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, TheWheelTurnsWhereThePointerWas) {
  InputQueue queue;
  queue.Move({10, 5});
  queue.Turn({1, 0});
  queue.Turn({2, 0.5F});
  queue.Move({99, 5});
  FrameInput frame = queue.Next();
  EXPECT_EQ(frame.mouse.place, (MousePlace{10, 5}));
  EXPECT_EQ(frame.wheel.y, 3);
  EXPECT_EQ(frame.wheel.x, 0.5F);
  frame = queue.Next();
  EXPECT_EQ(frame.mouse.place, (MousePlace{99, 5}));
  EXPECT_EQ(frame.wheel.y, 0) << "once";
}

TEST(InputQueue, AKeyKnowsWhereThePointerIs) {
  InputQueue queue;
  queue.Press(Key::kW);
  queue.Move({10, 5});
  queue.Press(Key::kM);
  queue.Press(Key::kD);
  FrameInput frame = queue.Next();
  ASSERT_EQ(frame.keys.size(), 1U) << "keys of a frame come before its mouse";
  EXPECT_EQ(frame.keys[0].key, Key::kW);
  EXPECT_EQ(frame.mouse.place, (MousePlace{10, 5}));
  frame = queue.Next();
  EXPECT_EQ(frame.keys.size(), 2U);
  EXPECT_TRUE(queue.empty());
}

// Shift+drag moves the view: a Shift that comes after the drag must not.
TEST(InputQueue, WhatIsHeldBelongsToWhatTheMouseDidThen) {
  InputQueue queue;
  queue.Set({0, true});
  queue.Move({10, 5});
  queue.Set({0, false});
  queue.Hold({.shift = true});
  queue.Press({Key::kM, {.shift = true}});
  for (int frame = 0; frame < 2; ++frame) EXPECT_FALSE(queue.Next().held.shift);
  EXPECT_FALSE(queue.empty());
  queue.Turn({1, 0});
  queue.Hold({});
  const FrameInput with_shift = queue.Next();
  EXPECT_TRUE(with_shift.held.shift);
  EXPECT_EQ(with_shift.keys.size(), 1U);
  EXPECT_EQ(with_shift.wheel.y, 1);
  EXPECT_FALSE(queue.Next().held.shift);
  EXPECT_TRUE(queue.empty());
}

TEST(InputQueue, ButtonsThatNobodyUsesAreLeftOut) {
  InputQueue queue;
  queue.Set({7, true});
  EXPECT_TRUE(queue.empty());
  queue.Set({0, false});
  EXPECT_FALSE(queue.Next().mouse.down[0]) << "let go without a press";
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace traceinject
