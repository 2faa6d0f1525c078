// SPDX-License-Identifier: Apache-2.0
// A column of integers that mostly lie close to their neighbors, in as few bytes as that takes.
//
// 64 values are a block: its least value once, and of each the difference to it in 0, 1, 2, 4 or 8
// bytes, whichever holds all of them. Equal values cost nothing, ids counted upwards a byte or two,
// times within 4 seconds four bytes. Memory besides: a quarter of a byte a value.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <type_traits>
#include <vector>

namespace traceinject {

// T: an integer or an enumeration.
template <typename T>
class PackedColumn {
 public:
  using value_type = T;
  static constexpr std::size_t kBlock = 64;

  std::size_t size() const { return blocks_.size() * kBlock + in_tail_; }
  bool empty() const { return size() == 0; }

  // For code that serves vectors too; packing needs no room in advance.
  void reserve(std::size_t) {}
  void shrink_to_fit() { blocks_.shrink_to_fit(); }
  // O(1) amortised; never moves what is packed already, so growing needs no second copy.
  void push_back(T value) {
    tail_[in_tail_++] = value;
    if (in_tail_ == kBlock) Pack();
  }
  // The same for several, faster than one by one.
  void Append(std::span<const T> values) {
    while (!values.empty()) {
      const std::size_t count = std::min(values.size(), kBlock - in_tail_);
      std::copy_n(values.begin(), count, tail_.begin() + in_tail_);
      in_tail_ += count;
      if (in_tail_ == kBlock) Pack();
      values = values.subspan(count);
    }
  }
  // The same for `count` values of another column, from index `first` on.
  void Append(const PackedColumn& from, std::size_t first, std::size_t count) {
    std::array<T, kBlock> values;
    while (count > 0) {
      const std::size_t in_block = first % kBlock;
      from.UnpackBlock(first - in_block, values);
      const std::size_t part = std::min(count, kBlock - in_block);
      Append(std::span<const T>(values).subspan(in_block, part));
      first += part;
      count -= part;
    }
  }

  // O(1).
  T operator[](std::size_t index) const {
    const std::size_t block = index / kBlock;
    if (block == blocks_.size()) return tail_[index % kBlock];
    return Unpack(blocks_[block], index % kBlock);
  }
  // The values of a block of kBlock, beginning at `first`, a multiple of it; faster than one by
  // one. Returns how many there are: fewer only at the end.
  std::size_t UnpackBlock(std::size_t first, std::array<T, kBlock>& values) const {
    const std::size_t block = first / kBlock;
    if (block == blocks_.size()) {
      std::copy(tail_.begin(), tail_.begin() + in_tail_, values.begin());
      return in_tail_;
    }
    switch (blocks_[block].width) {
      case 0:
        values.fill(static_cast<T>(blocks_[block].least));
        break;
      case 1:
        UnpackAll<std::uint8_t>(blocks_[block], values);
        break;
      case 2:
        UnpackAll<std::uint16_t>(blocks_[block], values);
        break;
      case 4:
        UnpackAll<std::uint32_t>(blocks_[block], values);
        break;
      default:
        UnpackAll<std::uint64_t>(blocks_[block], values);
    }
    return kBlock;
  }
  // Reads from begin to end, a block at a time: faster than by index.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    Iterator(const PackedColumn& column, std::size_t index) : column_(&column), index_(index) {
      Fill();
    }
    T operator*() const { return values_[index_ % kBlock]; }
    Iterator& operator++() {
      ++index_;
      Fill();
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    void Fill() {
      if (index_ % kBlock == 0 && index_ < column_->size()) column_->UnpackBlock(index_, values_);
    }

    const PackedColumn* column_;
    std::size_t index_;               // of begin() or end()
    std::array<T, kBlock> values_{};  // the block around it
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

  T front() const { return (*this)[0]; }
  T back() const { return (*this)[size() - 1]; }

  std::size_t memory_bytes() const {
    std::size_t bytes = blocks_.capacity() * sizeof(Block) + sizeof(tail_);
    for (const std::vector<std::byte>& page : pages_) bytes += page.capacity();
    return bytes;
  }

 private:
  // Differences are stored in pages, so that no large array has to be copied to grow.
  static constexpr std::size_t kPageBytes = std::size_t{1} << 16;
  static constexpr std::size_t kUnitsAPage = kPageBytes / kBlock;

  struct Block {
    std::uint64_t least = 0;
    std::uint32_t unit = 0;  // of kBlock bytes, where the differences begin; pages are full but for
                             // what was too short for the next block
    std::uint8_t width = 0;  // bytes of a difference
  };

  static std::uint64_t Bits(T value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<T>>(value));
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }

  static std::uint8_t WidthOf(std::uint64_t most) {
    if (most == 0) return 0;
    if (most <= 0xff) return 1;
    if (most <= 0xffff) return 2;
    return most <= 0xffffffff ? 4 : 8;
  }

  template <typename Difference>
  static std::uint64_t Load(const std::byte* from) {
    Difference difference;
    std::memcpy(&difference, from, sizeof(difference));
    return difference;
  }

  // Of a block with differences.
  const std::byte* DifferencesOf(const Block& block) const {
    return pages_[block.unit / kUnitsAPage].data() + block.unit % kUnitsAPage * kBlock;
  }

  template <typename Difference>
  void UnpackAll(const Block& block, std::array<T, kBlock>& values) const {
    std::array<Difference, kBlock> differences;
    std::memcpy(differences.data(), DifferencesOf(block), sizeof(differences));
    for (std::size_t i = 0; i < kBlock; ++i) {
      values[i] = static_cast<T>(block.least + differences[i]);
    }
  }

  T Unpack(const Block& block, std::size_t index) const {
    std::uint64_t difference = 0;
    if (block.width != 0) {
      const std::byte* const from = DifferencesOf(block) + index * block.width;
      switch (block.width) {
        case 1:
          difference = Load<std::uint8_t>(from);
          break;
        case 2:
          difference = Load<std::uint16_t>(from);
          break;
        case 4:
          difference = Load<std::uint32_t>(from);
          break;
        default:
          difference = Load<std::uint64_t>(from);
      }
    }
    return static_cast<T>(block.least + difference);
  }

  void Pack() {
    T least = tail_.front(), most = tail_.front();
    for (const T value : tail_) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    Block block{Bits(least), 0, WidthOf(Bits(most) - Bits(least))};
    if (block.width != 0) {
      std::vector<std::byte>& page = PageFor(block.width * kBlock);
      const std::size_t at = page.size();
      block.unit = static_cast<std::uint32_t>((pages_.size() - 1) * kUnitsAPage + at / kBlock);
      page.resize(at + block.width * kBlock);
      switch (block.width) {
        case 1:
          PackAll<std::uint8_t>(block.least, page.data() + at);
          break;
        case 2:
          PackAll<std::uint16_t>(block.least, page.data() + at);
          break;
        case 4:
          PackAll<std::uint32_t>(block.least, page.data() + at);
          break;
        default:
          PackAll<std::uint64_t>(block.least, page.data() + at);
      }
    }
    blocks_.push_back(block);
    in_tail_ = 0;
  }

  template <typename Difference>
  void PackAll(std::uint64_t least, std::byte* to) const {
    std::array<Difference, kBlock> differences;
    for (std::size_t i = 0; i < kBlock; ++i)
      differences[i] = static_cast<Difference>(Bits(tail_[i]) - least);
    std::memcpy(to, differences.data(), sizeof(differences));
  }

  // The last page if `bytes` fit, else a new one. Only the first grows: short columns stay short.
  std::vector<std::byte>& PageFor(std::size_t bytes) {
    if (pages_.empty() || pages_.back().size() + bytes > kPageBytes) {
      pages_.emplace_back();
      if (pages_.size() > 1) pages_.back().reserve(kPageBytes);
    }
    return pages_.back();
  }

  std::vector<Block> blocks_;
  std::vector<std::vector<std::byte>> pages_;
  std::array<T, kBlock> tail_{};  // not packed yet
  std::size_t in_tail_ = 0;       // of those, how many there are
};

}  // namespace traceinject
