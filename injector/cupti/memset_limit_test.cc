// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/memset_limit.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Looks ten times a second while a program makes memsets.
class Program {
 public:
  struct Memsets {
    std::int64_t a_second, length_ns;
  };

  // Whether the limit is reached on the way.
  bool Run(std::int64_t ms, Memsets memsets, bool recorded = true) {
    for (std::int64_t passed = 0; passed < ms; passed += 100) {
      now_ns_ += 100 * kMs;
      if (recorded) {
        seen_.count += memsets.a_second / 10;
        seen_.total_ns += memsets.a_second / 10 * memsets.length_ns;
      }
      if (limit_.Look(now_ns_, recorded, seen_)) return true;
    }
    return false;
  }

 private:
  MemsetLimit limit_;
  MemsetLimit::Seen seen_;
  std::int64_t now_ns_ = 1'000'000 * kMs;
};

constexpr Program::Memsets kManyShort{4000, 1700}, kFew{400, 1700}, kManyLong{4000, 20'000};

TEST(MemsetLimitTest, ManyShortOnesAreLeftOutAfterSomeSeconds) {
  Program program;
  EXPECT_FALSE(program.Run(4900, kManyShort));
  EXPECT_TRUE(program.Run(300, kManyShort));
}

TEST(MemsetLimitTest, FewOnesAreRecorded) { EXPECT_FALSE(Program().Run(60'000, kFew)); }

TEST(MemsetLimitTest, LongOnesAreRecordedHoweverMany) {
  EXPECT_FALSE(Program().Run(60'000, kManyLong));
}

TEST(MemsetLimitTest, ABeginningWithManyIsForgotten) {
  Program program;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(program.Run(3000, kManyShort));
    EXPECT_FALSE(program.Run(2000, kFew));
  }
}

TEST(MemsetLimitTest, TimeThatIsNotRecordedTellsNothing) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(program.Run(900, kManyShort));
    EXPECT_FALSE(program.Run(900, kManyShort, false));
  }
}

}  // namespace
}  // namespace traceinject
