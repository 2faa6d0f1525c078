// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/index_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace traceinject {
namespace {

using Indices = std::vector<std::uint32_t>;

constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

void ExpectSame(const IndexColumn& column, const Indices& indices) {
  ASSERT_EQ(column.size(), indices.size());
  EXPECT_EQ(column.empty(), indices.empty());
  for (std::size_t row = 0; row < indices.size(); ++row)
    ASSERT_EQ(column[row], indices[row]) << row;
  EXPECT_TRUE(std::equal(column.begin(), column.end(), indices.begin(), indices.end()));
}

// Below `limit`, or none.
Indices RandomIndices(std::size_t count, std::uint32_t limit) {
  std::mt19937 random(limit);
  Indices indices(count);
  for (std::uint32_t& index : indices)
    index = random() % 50 == 0 ? kMost : static_cast<std::uint32_t>(random() % limit);
  return indices;
}

TEST(IndexColumn, HoldsWhatWasAddedOneByOneOrTogether) {
  for (const std::uint32_t limit : {1U, 254U, 255U, 256U, 65'535U, 65'536U, 70'000U, kMost}) {
    const Indices indices = RandomIndices(1000, limit);
    IndexColumn one_by_one, together, in_parts;
    for (const std::uint32_t index : indices) one_by_one.push_back(index);
    together.Append(indices);
    for (std::size_t row = 0, part = 1; row < indices.size(); row += part, part = part * 2 + 1)
      in_parts.Append(one_by_one, row, std::min(part, indices.size() - row));
    ExpectSame(one_by_one, indices);
    ExpectSame(together, indices);
    ExpectSame(in_parts, indices);
    EXPECT_TRUE(together == in_parts);
  }
}

TEST(IndexColumn, BecomesWiderAsValuesDo) {
  Indices indices;
  IndexColumn column;
  for (const std::uint32_t index : {0U, kMost, 254U, 255U, 3U, 65'534U, 65'535U, kMost - 1, 1U}) {
    indices.push_back(index);
    column.push_back(index);
    ExpectSame(column, indices);
  }
  const std::vector<std::uint32_t> others = {255, 65'535, kMost - 1, kMost, 0};
  for (const std::uint32_t other : others) {
    IndexColumn set = {1, 2, 3};
    set.Set(1, other);
    ExpectSame(set, {1, other, 3});
    IndexColumn added = {1, 2, 3};
    added.Append(Indices{4, other, 5});
    ExpectSame(added, {1, 2, 3, 4, other, 5});
  }
}

TEST(IndexColumn, TakesRowsOfWiderAndNarrowerOnes) {
  const IndexColumn narrow = {1, 2, 3}, wide = {70'000, 4, kMost};
  IndexColumn column;
  column.Append(narrow, 1, 0);
  column.Append(wide, 1, 1);
  column.Append(narrow, 0, 3);
  column.Append(wide, 0, 3);
  ExpectSame(column, {4, 1, 2, 3, 70'000, 4, kMost});
  IndexColumn second;
  second.Append(Indices{300});
  second.Append(narrow, 1, 2);
  ExpectSame(second, {300, 2, 3});
}

TEST(IndexColumn, TakesOneTwoOrFourBytes) {
  constexpr std::size_t kCount = 100'000;
  for (const auto& [limit, bytes] : {std::pair(254U, 1), {65'000U, 2}, {100'000U, 4}}) {
    IndexColumn column;
    column.Append(RandomIndices(kCount, limit));
    column.shrink_to_fit();
    EXPECT_LE(column.memory_bytes(), kCount * static_cast<std::size_t>(bytes) + 4) << limit;
  }
}

}  // namespace
}  // namespace traceinject
