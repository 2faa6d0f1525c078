// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/frame_coder.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "viewer/serve/testing/read_frame.h"

namespace traceinject {
namespace {

class RandomFrames {
 public:
  DrawnFrame Make() {
    DrawnFrame frame{
        Number(4000), Number(4000), static_cast<std::uint8_t>(Number(9)), Number(1) == 1, {}};
    frame.lists.resize(static_cast<std::size_t>(Number(5)));
    for (FrameList& list : frame.lists) list = MakeList();
    return frame;
  }
  // As the next frame of a user is: most of it is as it was.
  DrawnFrame Changed(DrawnFrame frame) {
    if (Number(3) == 0) frame.lists.push_back(MakeList());
    if (Number(3) == 0 && !frame.lists.empty()) frame.lists.pop_back();
    for (FrameList& list : frame.lists) {
      Change(list.vertices, [this] { return MakeVertex(); });
      Change(list.indices, [this] { return static_cast<std::uint32_t>(Number(70'000)); });
    }
    return frame;
  }

 private:
  int Number(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  // Any number of 32 bits, extremes too.
  std::uint32_t Word() {
    const std::uint32_t extremes[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    return Number(4) == 0 ? extremes[Number(4)] : static_cast<std::uint32_t>(random_());
  }
  FrameVertex MakeVertex() {
    return {static_cast<std::int32_t>(Word()), static_cast<std::int32_t>(Word()), Word(), Word()};
  }
  FrameList MakeList() {
    FrameList list;
    for (int i = Number(50); i > 0; --i) list.vertices.push_back(MakeVertex());
    for (int i = Number(80); i > 0; --i) list.indices.push_back(Word());
    for (int i = Number(6); i > 0; --i) {
      const auto edge = [this] { return static_cast<std::int32_t>(Word()); };
      list.commands.push_back({edge(), edge(), edge(), edge(), Word()});
    }
    return list;
  }
  // Takes a few away somewhere, and puts a few there.
  template <typename Items, typename Make>
  void Change(Items& items, Make make) {
    const auto at = Number(static_cast<int>(items.size()));
    const auto end = at + Number(static_cast<int>(items.size()) - at);
    items.erase(items.begin() + at, items.begin() + end);
    for (int i = Number(4); i > 0; --i) items.insert(items.begin() + at, make());
  }

  std::mt19937 random_{20'261};
};

TEST(FrameCoder, EveryFrameIsReadAsItWasDrawn) {
  RandomFrames frames;
  DrawnFrame before;
  for (int i = 0; i < 3'000; ++i) {
    const DrawnFrame now = i % 10 == 0 ? frames.Make() : frames.Changed(before);
    const auto read = ReadFrame(before, CodeFrame(before, now));
    ASSERT_TRUE(read.has_value()) << i;
    ASSERT_TRUE(*read == now) << i;
    before = now;
  }
}

TEST(FrameCoder, WhatStaysTakesNoRoom) {
  DrawnFrame frame{800, 600, 1, false, {FrameList()}};
  for (std::int32_t i = 0; i < 4'000; ++i) {
    frame.lists[0].vertices.push_back({i * 37, i * 91, 5, 7});
    frame.lists[0].indices.push_back(static_cast<std::uint32_t>(i));
  }
  const std::size_t whole = CodeFrame({}, frame).size();
  EXPECT_GT(whole, 4'000U);
  EXPECT_LT(CodeFrame(frame, frame).size(), 30U);
  DrawnFrame next = frame;
  next.lists[0].vertices[2'000].color = 8;
  EXPECT_LT(CodeFrame(frame, next).size(), 40U);
}

TEST(FrameCoder, NumbersOfEverySize) {
  for (const std::uint32_t number : {0U, 1U, 127U, 128U, 16'383U, 16'384U, 0x7FFFFFFFU,
                                     std::numeric_limits<std::uint32_t>::max()}) {
    std::string bytes;
    AddNumber(number, bytes);
    std::string_view rest = bytes;
    EXPECT_EQ(TakeNumber(rest), number);
    EXPECT_TRUE(rest.empty());
  }
}

}  // namespace
}  // namespace traceinject
