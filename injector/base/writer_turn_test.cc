// SPDX-License-Identifier: Apache-2.0
#include "injector/base/writer_turn.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace traceinject {
namespace {

class WriterTurnTest : public ::testing::Test {
 protected:
  // What another thread does that looks on once: nothing, or takes the turn.
  std::vector<bool> Look(std::int64_t looks) {
    std::vector<bool> firsts;
    std::thread([&] { turn_.Look(looks, [&](bool first) { firsts.push_back(first); }); }).join();
    return firsts;
  }

  WriterTurn turn_;
};

TEST_F(WriterTurnTest, TheWriterKeepsItWhileItWorks) {
  const std::lock_guard writer(turn_);
  EXPECT_FALSE(turn_.IsGivenUp());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Look(1).empty());
}

TEST_F(WriterTurnTest, WhoLooksOnTakesItWhereACallDoesNotReturn) {
  const std::lock_guard writer(turn_);
  const WriterTurn::Outside outside(&turn_);
  EXPECT_TRUE(turn_.IsGivenUp());
  EXPECT_TRUE(Look(3).empty());
  EXPECT_TRUE(Look(3).empty());
  EXPECT_EQ(Look(3), std::vector<bool>{true});
  EXPECT_EQ(Look(3), std::vector<bool>{false});
}

TEST_F(WriterTurnTest, OtherCallsDoNotCount) {
  const std::lock_guard writer(turn_);
  for (int i = 0; i < 3; ++i) {
    const WriterTurn::Outside outside(&turn_);
    EXPECT_TRUE(Look(2).empty());
  }
  EXPECT_FALSE(turn_.IsGivenUp());
  EXPECT_TRUE(Look(1).empty());
}

TEST_F(WriterTurnTest, EachCallIsOneOfItsOwn) {
  const std::lock_guard writer(turn_);
  for (int i = 0; i < 2; ++i) {
    const WriterTurn::Outside outside(&turn_);
    EXPECT_TRUE(Look(2).empty());
    EXPECT_EQ(Look(2), std::vector<bool>{true});
  }
}

TEST_F(WriterTurnTest, TheWriterWaitsForWhoTookIt) {
  bool done = false;  // changed with the turn only: a race is one for ThreadSanitizer
  const std::lock_guard writer(turn_);
  for (int i = 0; i < 200; ++i) {
    done = false;
    bool taken = false;
    std::thread other;
    {
      const WriterTurn::Outside outside(&turn_);
      other = std::thread([&] {
        turn_.Look(1, [&](bool) {
          taken = true;
          std::this_thread::yield();
          done = true;
        });
      });
    }
    const bool seen = done;
    other.join();
    EXPECT_TRUE(!taken || seen);
  }
}

}  // namespace
}  // namespace traceinject
