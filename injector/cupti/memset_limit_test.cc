// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/memset_limit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "injector/options/options.h"

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

// The texts for users stand elsewhere.
TEST(MemsetLimitTest, TheHelpTellsTheLimits) {
  const std::string limits =
      "after " + std::to_string(MemsetLimit::kSpans * MemsetLimit::kSpanNs / 1'000'000'000) +
      " seconds with more than " +
      std::to_string(MemsetLimit::kSpanNs / 1000 / MemsetLimit::kRecordNs) +
      " a second of less than " + std::to_string(2 * MemsetLimit::kRecordNs / 1000) + " us each";
  const std::vector<OptionInfo> options = ListOptions();
  const auto option = std::find_if(options.begin(), options.end(), [](const OptionInfo& each) {
    return std::string_view(each.name) == "TRACEINJECT_MEMSETS";
  });
  ASSERT_NE(option, options.end());
  EXPECT_NE(std::string_view(option->help).find(limits), std::string_view::npos) << limits;
}

}  // namespace
}  // namespace traceinject
