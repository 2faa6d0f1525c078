// SPDX-License-Identifier: Apache-2.0
#include "injector/core/dictionary.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <set>
#include <string>

namespace traceinject {
namespace {

TEST(DictionaryTest, OneTextHasOneId) {
  Batch batch;
  Dictionary dictionary(&batch);
  const std::uint32_t first = dictionary.String("first");
  EXPECT_NE(dictionary.String("second"), first);
  EXPECT_EQ(dictionary.String("first"), first);
  ASSERT_EQ(batch.strings.size(), 2U);
  EXPECT_EQ(batch.strings[0].id, first);
  EXPECT_EQ(batch.strings[0].text, "first");
}

// As in a run of days whose ranges are numbered.
TEST(DictionaryTest, EndlessDifferentTextsTakeBoundedMemory) {
  Batch batch;
  Dictionary dictionary(&batch);
  const std::uint32_t often = dictionary.String("often");
  const char kept_name[] = "a kernel";
  const std::uint32_t stable = dictionary.StableString(kept_name);
  std::set<std::uint32_t> ids = {often, stable};
  std::size_t used = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint32_t id = dictionary.String("aten::add_, op_id = " + std::to_string(i));
    if (i % 97 == 0) {
      EXPECT_TRUE(ids.insert(id).second) << "an id was given twice";
    }
    if (i % 1000 == 0) {
      EXPECT_EQ(dictionary.String("often"), often);
      batch = Batch();  // stored
    }
    if (i == 300'000) used = mallinfo2().uordblks;
  }
  EXPECT_EQ(dictionary.StableString(kept_name), stable);
  EXPECT_LT(mallinfo2().uordblks, used + (20 << 20));
}

// As of a program that makes a stream for each step and uses few of them.
TEST(DictionaryTest, EndlessUnusedStreamsTakeBoundedMemory) {
  Batch batch;
  Dictionary dictionary(&batch);
  dictionary.DescribeStream(1, 0, -5, 1);
  dictionary.Stream(0, 1, 0);
  std::size_t used = 0;
  constexpr std::uint32_t kMany = 500'000;
  for (std::uint32_t i = 1; i <= kMany; ++i) {
    dictionary.DescribeStream(1, i, -1, 1);
    if (i == kMany / 10) used = mallinfo2().uordblks;
  }
  EXPECT_LT(mallinfo2().uordblks, used + (8 << 20));
  dictionary.Stream(0, 1, kMany);
  dictionary.NameStream(1, 0, "kept");
  ASSERT_EQ(batch.streams.size(), 3U);
  EXPECT_EQ(batch.streams[1].priority, -1);
  EXPECT_EQ(batch.streams[2].priority, -5) << "one in use is never forgotten";
}

}  // namespace
}  // namespace traceinject
