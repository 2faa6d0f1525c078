// SPDX-License-Identifier: Apache-2.0
#include "injector/base/safe_point.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace traceinject {
namespace {

class SafePointTest : public ::testing::Test {
 protected:
  SafePointTest() { g_state = State::kRunning; }
  ~SafePointTest() override { g_state = State::kArmed; }

  SafePoint point_;
};

TEST_F(SafePointTest, AThreadThatPassesDoesIt) {
  std::atomic<bool> ended{false};
  std::thread program([&] {
    while (!ended) point_.Pass();
  });
  for (int i = 0; i < 100; ++i) {
    std::thread::id by;
    EXPECT_TRUE(point_.Run([&] { by = std::this_thread::get_id(); }, 60'000'000'000));
    EXPECT_EQ(by, program.get_id());
  }
  ended = true;
  program.join();
}

TEST_F(SafePointTest, WhereNonePassesTheOneThatAsksDoesIt) {
  int done = 0;
  EXPECT_FALSE(point_.Run([&] { ++done; }, 1'000'000));
  EXPECT_EQ(done, 1);
  point_.Pass();
  EXPECT_EQ(done, 1);
}

TEST_F(SafePointTest, NoThreadIsWaitedForOnceTheProgramEnds) {
  std::thread program([&] { point_.StopWaiting(); });
  int done = 0;
  EXPECT_FALSE(point_.Run([&] { ++done; }, 60'000'000'000));
  program.join();
  EXPECT_EQ(done, 1);
  EXPECT_FALSE(point_.Offer([&] { ++done; }, 60'000'000'000));
  EXPECT_EQ(done, 1);
}

TEST_F(SafePointTest, WhatIsOfferedIsDoneByAThreadThatPasses) {
  std::atomic<bool> ended{false};
  std::thread program([&] {
    while (!ended) point_.Pass();
  });
  std::thread::id by;
  EXPECT_TRUE(point_.Offer([&] { by = std::this_thread::get_id(); }, 60'000'000'000));
  EXPECT_EQ(by, program.get_id());
  ended = true;
  program.join();
}

TEST_F(SafePointTest, WhatIsOfferedIsLeftUndoneWhereNonePasses) {
  int done = 0;
  EXPECT_FALSE(point_.Offer([&] { ++done; }, 1'000'000));
  point_.Pass();
  EXPECT_EQ(done, 0);
  EXPECT_FALSE(point_.Run([&] { ++done; }, 1'000'000));
  EXPECT_EQ(done, 1);
}

TEST_F(SafePointTest, NotInAForkedChild) {
  std::atomic<bool> ended{false};
  g_state = State::kDead;
  std::thread program([&] {
    while (!ended) point_.Pass();
  });
  std::thread::id by;
  point_.Run([&] { by = std::this_thread::get_id(); }, 5'000'000);
  EXPECT_EQ(by, std::this_thread::get_id());
  ended = true;
  program.join();
}

TEST_F(SafePointTest, WhatItThrowsIsThrownWhereItWasAskedFor) {
  const auto run = [&] { point_.Run([] { throw std::runtime_error("no memory"); }, 1'000'000); };
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_THROW(run(), std::runtime_error) << "and is forgotten";
  point_.Run([] {}, 1'000'000);
}

TEST_F(SafePointTest, LeaveIsAskedForWhileTheThreadThatPassesWaits) {
  std::atomic<bool> ended{false};
  std::atomic<std::int64_t> passes{0};
  std::thread program([&] {
    while (!ended) {
      point_.Pass();
      ++passes;
    }
  });
  for (const bool allowed : {true, false}) {
    std::thread::id asked, by;
    std::int64_t before = 0, then = -1;
    const auto may = [&] {
      asked = std::this_thread::get_id();
      before = passes;
      return allowed;
    };
    const auto outcome = point_.RunIf(
        may,
        [&] {
          by = std::this_thread::get_id();
          then = passes;
        },
        60'000'000'000);
    EXPECT_EQ(asked, std::this_thread::get_id());
    EXPECT_EQ(by, allowed ? program.get_id() : std::thread::id());
    EXPECT_EQ(then, allowed ? before : -1);
    EXPECT_EQ(outcome, allowed ? SafePoint::Outcome::kPassed : SafePoint::Outcome::kRefused);
  }
  ended = true;
  program.join();
}

TEST_F(SafePointTest, AThreadThatIsHeldForLongGoesOn) {
  std::atomic<bool> came_back{false};
  std::atomic<int> done{0};
  std::atomic<bool> asked{false};
  std::thread program([&] {
    while (!asked) point_.Pass();  // it passes once more at least, and is held
    came_back = true;
  });
  const auto may = [&] {  // waits for what the other thread is to do next
    asked = true;
    while (!came_back) std::this_thread::yield();
    return true;
  };
  EXPECT_EQ(point_.RunIf(
                may, [&] { ++done; }, 60'000'000'000),
            SafePoint::Outcome::kRefused);
  EXPECT_EQ(done, 0);
  program.join();
}

TEST_F(SafePointTest, LeaveIsAskedForWhereNonePasses) {
  int done = 0;
  const auto work = [&] { ++done; };
  EXPECT_EQ(point_.RunIf([] { return false; }, work, 1'000'000), SafePoint::Outcome::kRefused);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(point_.RunIf([] { return true; }, work, 1'000'000), SafePoint::Outcome::kNonePassed);
  EXPECT_EQ(done, 1);
  const auto fail = []() -> bool { throw std::runtime_error("no memory"); };
  EXPECT_THROW(point_.RunIf(fail, work, 1'000'000), std::runtime_error);
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace traceinject
