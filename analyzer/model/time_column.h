// SPDX-License-Identifier: Apache-2.0
// A column of times, four bytes each: 64 of them are a block, which has one base, and each of them
// a difference of 32 bits to it. Any value can stand anywhere: a block whose times lie more than 2
// s apart takes 12 bytes a time.
//
// A read costs two loads and a branch that is nearly always predicted. A report on 10 million
// operations takes less time so than with vectors, as it waits for memory; one on 1 million a
// little more.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace traceinject {

// Values are int64 nanoseconds; what they count from does not matter here.
class TimeColumn {
 public:
  using value_type = std::int64_t;
  static constexpr std::size_t kBlock = 64;

  TimeColumn() = default;
  TimeColumn(std::initializer_list<value_type> values) { Append(values); }
  explicit TimeColumn(std::span<const value_type> values) { Append(values); }

  std::size_t size() const { return low_.size(); }
  bool empty() const { return low_.empty(); }
  std::size_t capacity() const { return low_.capacity(); }
  void reserve(std::size_t rows) {
    low_.reserve(rows);
    bases_.reserve(Blocks(rows));
  }
  void shrink_to_fit() {
    low_.shrink_to_fit();
    bases_.shrink_to_fit();
    wide_.shrink_to_fit();
  }

  // O(1). Inlined in large functions, too, where the compiler would rather call it.
  [[gnu::always_inline]] value_type operator[](std::size_t row) const {
    const std::uint64_t base = bases_[row / kBlock];
    if (base == kWide) [[unlikely]]
      return wide_[low_[row]];
    return static_cast<value_type>(base + low_[row]);
  }
  value_type front() const { return (*this)[0]; }
  value_type back() const { return (*this)[size() - 1]; }

  // O(1) amortised.
  void push_back(value_type value) {
    if (size() % kBlock == 0) bases_.push_back(BaseFor(value));
    const std::uint64_t difference = Bits(value) - bases_.back();
    if (bases_.back() != kWide && difference <= kMostLow) {
      low_.push_back(static_cast<std::uint32_t>(difference));
    } else {
      PushWide(value);
    }
  }
  // The same for several, faster than one by one.
  void Append(std::span<const value_type> values) {
    while (!values.empty()) {
      const std::size_t count = std::min(values.size(), kBlock - size() % kBlock);
      AppendToBlock(values.first(count));
      values = values.subspan(count);
    }
  }
  void Append(std::initializer_list<value_type> values) {
    Append(std::span<const value_type>(values.begin(), values.size()));
  }
  // The same for `count` values of another column, from row `first` on.
  void Append(const TimeColumn& from, std::size_t first, std::size_t count) {
    for (; count > 0 && count < kFew; --count) push_back(from[first++]);
    std::array<value_type, kBlock> values;
    while (count > 0) {
      const std::size_t part = std::min(count, kBlock - first % kBlock);
      from.Unpack(first, std::span(values).first(part));
      Append(std::span<const value_type>(values).first(part));
      first += part;
      count -= part;
    }
  }
  // O(1); O(kBlock) if the value is the first in its block that lies far from the others.
  void Set(std::size_t row, value_type value) {
    std::uint64_t& base = bases_[row / kBlock];
    const std::uint64_t difference = Bits(value) - base;
    if (base != kWide && difference <= kMostLow) {
      low_[row] = static_cast<std::uint32_t>(difference);
      return;
    }
    if (base != kWide) Widen(row / kBlock);
    wide_[low_[row]] = value;
  }
  // Each value becomes map(value). O(n).
  template <typename Map>
  void Transform(Map map) {
    TimeColumn mapped;
    mapped.reserve(size());
    for (const value_type value : *this) mapped.push_back(map(value));
    *this = std::move(mapped);
  }

  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = TimeColumn::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    Iterator() = default;
    Iterator(const TimeColumn& column, std::size_t row) : column_(&column), row_(row) {}
    value_type operator*() const { return (*column_)[row_]; }
    value_type operator[](difference_type rows) const { return *(*this + rows); }
    Iterator& operator+=(difference_type rows) {
      row_ += static_cast<std::size_t>(rows);
      return *this;
    }
    Iterator& operator-=(difference_type rows) { return *this += -rows; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this -= 1; }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    Iterator operator--(int) {
      const Iterator before = *this;
      --*this;
      return before;
    }
    friend Iterator operator+(Iterator from, difference_type rows) { return from += rows; }
    friend Iterator operator+(difference_type rows, Iterator from) { return from += rows; }
    friend Iterator operator-(Iterator from, difference_type rows) { return from -= rows; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) {
      return static_cast<difference_type>(a.row_ - b.row_);
    }
    bool operator==(const Iterator& other) const { return row_ == other.row_; }
    auto operator<=>(const Iterator& other) const { return row_ <=> other.row_; }

   private:
    const TimeColumn* column_ = nullptr;
    std::size_t row_ = 0;
  };
  using const_iterator = Iterator;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  bool operator==(const TimeColumn& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  std::size_t memory_bytes() const {
    return low_.capacity() * sizeof(std::uint32_t) + bases_.capacity() * sizeof(std::uint64_t) +
           wide_.capacity() * sizeof(value_type);
  }

 private:
  // Of a block whose differences are rows of wide_. No other has it: theirs are odd.
  static constexpr std::uint64_t kWide = 0;
  // Fewer are added faster one by one.
  static constexpr std::size_t kFew = 8;
  static constexpr std::uint64_t kMostLow = std::numeric_limits<std::uint32_t>::max();

  static constexpr std::size_t Blocks(std::size_t rows) { return (rows + kBlock - 1) / kBlock; }
  // All arithmetic is that of unsigned numbers, which wraps around.
  static constexpr std::uint64_t Bits(value_type value) {
    return static_cast<std::uint64_t>(value);
  }
  // The first of a block stands in the middle of what its differences can reach.
  static constexpr std::uint64_t BaseFor(value_type first) {
    return (Bits(first) - kMostLow / 2) | 1;
  }

  // Rows from `first` on, all of one block.
  void Unpack(std::size_t first, std::span<value_type> values) const {
    const std::uint64_t base = bases_[first / kBlock];
    const std::uint32_t* const low = low_.data() + first;
    if (base == kWide) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = wide_[low[i]];
    } else {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<value_type>(base + low[i]);
    }
  }
  std::size_t EndOf(std::size_t block) const { return std::min(size(), (block + 1) * kBlock); }
  // At most as many as the block has room for.
  void AppendToBlock(std::span<const value_type> values) {
    if (size() % kBlock == 0) bases_.push_back(BaseFor(values.front()));
    const std::uint64_t base = bases_.back();
    const std::size_t first = size();
    low_.resize(first + values.size());
    std::uint64_t all = base == kWide ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t difference = Bits(values[i]) - base;
      all |= difference;
      low_[first + i] = static_cast<std::uint32_t>(difference);
    }
    if (all <= kMostLow) return;
    low_.resize(first);
    for (const value_type value : values) PushWide(value);
  }
  void PushWide(value_type value) {
    if (bases_.back() != kWide) Widen(bases_.size() - 1);
    low_.push_back(static_cast<std::uint32_t>(wide_.size()));
    wide_.push_back(value);
  }
  void Widen(std::size_t block) {
    const std::size_t end = EndOf(block);
    for (std::size_t row = block * kBlock; row < end; ++row) {
      wide_.push_back((*this)[row]);
      low_[row] = static_cast<std::uint32_t>(wide_.size() - 1);
    }
    bases_[block] = kWide;
  }

  std::vector<std::uint32_t> low_;
  std::vector<std::uint64_t> bases_;  // of each block
  std::vector<value_type> wide_;
};

}  // namespace traceinject
