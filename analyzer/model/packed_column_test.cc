// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/packed_column.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "analyzer/model/for_each_value.h"

namespace traceinject {
namespace {

template <typename T>
PackedColumn<T> Pack(const std::vector<T>& values) {
  PackedColumn<T> column;
  for (const T value : values) column.push_back(value);
  return column;
}

template <typename T>
void ExpectSame(const PackedColumn<T>& column, const std::vector<T>& values) {
  ASSERT_EQ(column.size(), values.size());
  EXPECT_EQ(column.empty(), values.empty());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(column[i], values[i]) << i;
  std::array<T, PackedColumn<T>::kBlock> block;
  for (std::size_t first = 0; first < values.size(); first += block.size()) {
    const std::size_t count = column.UnpackBlock(first, block);
    ASSERT_EQ(count, std::min(block.size(), values.size() - first));
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(block[i], values[first + i]) << first + i;
  }
}

// Differences up to `most`, of which one in a hundred is any number at all.
std::vector<std::int64_t> RandomValues(std::size_t count, std::int64_t most, bool outliers) {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> values(count);
  for (std::int64_t& value : values) {
    const auto any = static_cast<std::int64_t>(random());
    const bool outlier = outliers && random() % 100 == 0;
    value = outlier || most == std::numeric_limits<std::int64_t>::max() ? any : any % (most + 1);
  }
  return values;
}

TEST(PackedColumn, GivesBackWhatWasAdded) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t most : {std::int64_t{0}, std::int64_t{100}, std::int64_t{127},
                                  std::int64_t{30'000}, std::int64_t{1} << 31, kAny}) {
    for (const std::size_t count : {0, 1, 63, 64, 65, 128, 100'000}) {
      for (const bool outliers : {false, true}) {
        const auto values = RandomValues(count, most, outliers);
        ExpectSame(Pack(values), values);
      }
    }
  }
}

TEST(PackedColumn, SeveralAtOnceAreAsOneByOne) {
  const auto values = RandomValues(1'000, 30'000, true);
  for (const std::size_t part : {1, 7, 63, 64, 65, 256}) {
    PackedColumn<std::int64_t> column;
    for (std::size_t first = 0; first < values.size(); first += part)
      column.Append(std::span(values).subspan(first, std::min(part, values.size() - first)));
    ExpectSame(column, values);
  }
}

TEST(PackedColumn, EachValueComesWithItsRow) {
  for (const std::size_t count : {0, 1, 64, 1'000}) {
    const auto values = RandomValues(count, 30'000, true);
    std::size_t next = 0;
    ForEachValue(Pack(values), [&](std::uint32_t row, std::int64_t value) {
      ASSERT_EQ(row, next);
      ASSERT_EQ(value, values[next++]);
    });
    EXPECT_EQ(next, count);
  }
}

TEST(PackedColumn, EachValueOfAPartComesWithItsRow) {
  const auto values = RandomValues(300, 30'000, true);
  const auto column = Pack(values);
  for (const std::size_t first : {0, 1, 63, 64, 200, 299}) {
    for (const std::size_t last : {first, first + 1, std::size_t{250}, std::size_t{300}}) {
      std::size_t next = first;
      ForEachValueIn(column, first, last, [&](std::uint32_t row, std::int64_t value) {
        ASSERT_EQ(row, next);
        ASSERT_EQ(value, values[next++]);
      });
      EXPECT_EQ(next, std::max(first, last));
    }
  }
}

TEST(PackedColumn, HoldsTheLimitsOfItsType) {
  using Int = std::numeric_limits<std::int64_t>;
  using Unsigned = std::numeric_limits<std::uint64_t>;
  std::vector<std::int64_t> signed_values(64, Int::min());
  signed_values[3] = Int::max();
  ExpectSame(Pack(signed_values), signed_values);
  std::vector<std::uint64_t> values(64, 0);
  values[63] = Unsigned::max();
  ExpectSame(Pack(values), values);
  std::vector<std::int32_t> negative(130, -5);
  negative[70] = std::numeric_limits<std::int32_t>::max();
  ExpectSame(Pack(negative), negative);
}

TEST(PackedColumn, EnumerationsKeepTheirType) {
  enum class Small : std::uint8_t { kOne = 1, kLast = 255 };
  std::vector<Small> values(200, Small::kOne);
  values[100] = Small::kLast;
  ExpectSame(Pack(values), values);
}

TEST(PackedColumn, ACopyIsIndependent) {
  PackedColumn<std::uint32_t> column = Pack<std::uint32_t>({1, 2, 3});
  const PackedColumn<std::uint32_t> copy = column;
  for (std::uint32_t i = 0; i < 1'000; ++i) column.push_back(i * i);
  ExpectSame(copy, {1, 2, 3});
}

TEST(PackedColumn, MemoryIsThatOfTheDifferences) {
  constexpr std::size_t kCount = 1'000'000;
  PackedColumn<std::uint64_t> same, ids;
  PackedColumn<std::int64_t> times;
  for (std::size_t i = 0; i < kCount; ++i) {
    same.push_back(7);
    ids.push_back(1'000'000'000'000 + i);
    times.push_back(static_cast<std::int64_t>(i) * 10'000);
  }
  EXPECT_LT(same.memory_bytes(), kCount);
  EXPECT_LT(ids.memory_bytes(), kCount * 5 / 4);
  EXPECT_LT(times.memory_bytes(), 3 * kCount);
}

}  // namespace
}  // namespace traceinject
