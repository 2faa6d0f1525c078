// SPDX-License-Identifier: Apache-2.0
// A column of indices into a short list, such as a rank's threads: as many bytes of each as the
// largest takes, one, two or four.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace traceinject {

// Values are any uint32; the largest, which says "none" (kNone of run.h), takes no more than
// others.
class IndexColumn {
 public:
  using value_type = std::uint32_t;

  IndexColumn() = default;
  IndexColumn(std::initializer_list<value_type> values) {
    for (const value_type value : values) push_back(value);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void reserve(std::size_t rows) { bytes_.reserve((rows << shift_) + kPadding); }
  void shrink_to_fit() { bytes_.shrink_to_fit(); }

  // O(1), without a branch.
  [[gnu::always_inline]] value_type operator[](std::size_t row) const {
    value_type value;
    std::memcpy(&value, bytes_.data() + (row << shift_), sizeof value);
    value &= none_;
    return value == none_ ? kNoIndex : value;
  }
  value_type front() const { return (*this)[0]; }
  value_type back() const { return (*this)[size_ - 1]; }

  // O(1) amortised; O(n) twice at most, when values become wider.
  void push_back(value_type value) {
    bytes_.resize(((size_ + 1) << shift_) + kPadding);
    Set(size_++, value);
  }
  // The same for several, faster than one by one.
  void Append(std::span<const value_type> values) {
    // One more, so that none is the least.
    value_type most = 0;
    for (const value_type value : values) most = std::max(most, value + 1);
    while (most > none_) Widen();
    bytes_.resize(((size_ + values.size()) << shift_) + kPadding);
    if (shift_ == 0) return StoreAll<std::uint8_t>(values);
    if (shift_ == 1) return StoreAll<std::uint16_t>(values);
    StoreAll<value_type>(values);
  }
  // The same for `count` values of another column, from row `first` on.
  void Append(const IndexColumn& from, std::size_t first, std::size_t count) {
    if (count == 0) return;
    while (shift_ < from.shift_) Widen();
    if (shift_ != from.shift_) {
      for (std::size_t row = first; row < first + count; ++row) push_back(from[row]);
      return;
    }
    bytes_.resize(((size_ + count) << shift_) + kPadding);
    std::memcpy(bytes_.data() + (size_ << shift_), from.bytes_.data() + (first << shift_),
                count << shift_);
    size_ += count;
  }
  // O(1) amortised, as push_back.
  void Set(std::size_t row, value_type value) {
    while (value >= none_ && value != kNoIndex) Widen();
    Store(row, value);
  }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = IndexColumn::value_type;
    using difference_type = std::ptrdiff_t;
    using pointer = const value_type*;
    using reference = value_type;

    Iterator(const IndexColumn& column, std::size_t row) : column_(&column), row_(row) {}
    value_type operator*() const { return (*column_)[row_]; }
    Iterator& operator++() {
      ++row_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return row_ == other.row_; }

   private:
    const IndexColumn* column_;
    std::size_t row_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size_}; }

  bool operator==(const IndexColumn& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

  std::size_t memory_bytes() const { return bytes_.capacity(); }

 private:
  static constexpr value_type kNoIndex = std::numeric_limits<value_type>::max();
  // Four bytes are read at the last value, too.
  static constexpr std::size_t kPadding = sizeof(value_type);

  template <typename Narrow>
  static void StoreAs(value_type value, std::uint8_t* place) {
    const auto narrow = static_cast<Narrow>(value);
    std::memcpy(place, &narrow, sizeof narrow);
  }
  void Store(std::size_t row, value_type value) {
    std::uint8_t* const place = bytes_.data() + (row << shift_);
    if (shift_ == 0) return StoreAs<std::uint8_t>(value, place);
    if (shift_ == 1) return StoreAs<std::uint16_t>(value, place);
    StoreAs<value_type>(value, place);
  }
  // Behind the last. Members are read once: for all the compiler knows, bytes overwrite them.
  template <typename Narrow>
  void StoreAll(std::span<const value_type> values) {
    std::uint8_t* place = bytes_.data() + size_ * sizeof(Narrow);
    for (const value_type value : values) {
      StoreAs<Narrow>(value, place);
      place += sizeof(Narrow);
    }
    size_ += values.size();
  }
  void Widen() {
    IndexColumn wider;
    wider.shift_ = shift_ + 1;
    wider.none_ = shift_ == 0 ? 0xffff : kNoIndex;
    const std::size_t rows = bytes_.empty() ? 0 : (bytes_.size() - kPadding) >> shift_;
    wider.bytes_.reserve((std::max(rows, bytes_.capacity() >> shift_) << wider.shift_) + kPadding);
    wider.bytes_.resize((rows << wider.shift_) + kPadding);
    for (std::size_t row = 0; row < rows; ++row) wider.Store(row, (*this)[row]);
    wider.size_ = size_;
    *this = std::move(wider);
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;
  unsigned shift_ = 0;      // a value has 1 << shift_ bytes
  value_type none_ = 0xff;  // all bits of these
};

}  // namespace traceinject
