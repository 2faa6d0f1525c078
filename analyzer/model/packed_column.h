// SPDX-License-Identifier: Apache-2.0
// A column of integers that mostly lie close to their neighbors, in as few bytes as that takes.
//
// 64 values are a block: its least value once, and of each the difference to it in as many bits as
// the largest of them takes. Equal values cost nothing, ids counted upwards a byte, times that are
// 10 us apart two and a half. Memory besides: a quarter of a byte a value.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
      const std::size_t part = std::min(count, kBlock - in_block);
      if (part < kFew) {
        for (std::size_t i = 0; i < part; ++i) push_back(from[first + i]);
      } else {
        from.UnpackBlock(first - in_block, values);
        Append(std::span<const T>(values).subspan(in_block, part));
      }
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
    UnpackAll(blocks_[block], values);
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
    for (const Page& page : pages_) bytes += page.capacity() * sizeof(Page::value_type);
    return bytes;
  }

 private:
  // Differences are stored in pages, so that no large array has to be copied to grow.
  static constexpr std::size_t kPageWords = std::size_t{1} << 13;
  // Beyond this, differences have a word each: what is read at once holds all bits of narrower
  // ones, wherever in a byte they begin.
  static constexpr unsigned kMostBits = 57;
  static constexpr unsigned kWordBits = 64;
  // Fewer of a block are read faster by index than all at once.
  static constexpr std::size_t kFew = 8;

  struct Block {
    std::uint64_t least = 0;
    std::uint32_t word = 0;  // of all pages, where the differences begin, `width` words
    std::uint8_t width = 0;  // bits of a difference
  };
  // One word longer than its blocks take: the last difference is read with what comes after it.
  using Page = std::vector<std::uint64_t>;

  static std::uint64_t Bits(T value) {
    if constexpr (std::is_enum_v<T>) {
      return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<T>>(value));
    } else {
      return static_cast<std::uint64_t>(value);
    }
  }

  static std::uint8_t WidthOf(std::uint64_t most) {
    const auto bits = static_cast<unsigned>(std::bit_width(most));
    return static_cast<std::uint8_t>(bits > kMostBits ? kWordBits : bits);
  }

  // Of a block whose differences are not all 0.
  const std::uint64_t* DifferencesOf(const Block& block) const {
    return pages_[block.word / kPageWords].data() + block.word % kPageWords;
  }
  static std::uint64_t MaskOf(const Block& block) {
    return ~std::uint64_t{0} >> (kWordBits - block.width);
  }

  static std::uint64_t DifferenceAt(const std::uint64_t* differences, std::size_t bit,
                                    std::uint64_t mask) {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(differences) + bit / 8, sizeof(word));
    return word >> (bit % 8) & mask;
  }

  void UnpackAll(const Block& block, std::array<T, kBlock>& values) const {
    if (block.width == 0) {
      values.fill(static_cast<T>(block.least));
      return;
    }
    const std::uint64_t* const differences = DifferencesOf(block);
    const std::uint64_t mask = MaskOf(block);
    std::size_t bit = 0;
    for (T& value : values) {
      value = static_cast<T>(block.least + DifferenceAt(differences, bit, mask));
      bit += block.width;
    }
  }

  T Unpack(const Block& block, std::size_t index) const {
    if (block.width == 0) return static_cast<T>(block.least);
    return static_cast<T>(block.least +
                          DifferenceAt(DifferencesOf(block), index * block.width, MaskOf(block)));
  }

  void Pack() {
    T least = tail_.front(), most = tail_.front();
    for (const T value : tail_) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    Block block{Bits(least), 0, WidthOf(Bits(most) - Bits(least))};
    if (block.width != 0) {
      Page& page = PageFor(block.width);
      const std::size_t at = page.size() - 1;
      block.word = static_cast<std::uint32_t>((pages_.size() - 1) * kPageWords + at);
      page.resize(page.size() + block.width);
      PackAll(block, page.data() + at);
    }
    blocks_.push_back(block);
    in_tail_ = 0;
  }

  void PackAll(const Block& block, std::uint64_t* to) const {
    std::uint64_t word = 0;
    unsigned filled = 0;  // bits of it
    for (const T value : tail_) {
      const std::uint64_t difference = Bits(value) - block.least;
      word |= difference << filled;
      filled += block.width;
      if (filled < kWordBits) continue;
      *to++ = word;
      filled -= kWordBits;
      word = filled == 0 ? 0 : difference >> (block.width - filled);
    }
  }

  // The last page if `words` more fit, else a new one. Only the first grows: short columns stay
  // short.
  Page& PageFor(std::size_t words) {
    if (pages_.empty() || pages_.back().size() + words > kPageWords) {
      pages_.emplace_back();
      if (pages_.size() > 1) pages_.back().reserve(kPageWords);
      pages_.back().resize(1);
    }
    return pages_.back();
  }

  std::vector<Block> blocks_;
  std::vector<Page> pages_;
  std::array<T, kBlock> tail_{};  // not packed yet
  std::size_t in_tail_ = 0;       // of those, how many there are
};

}  // namespace traceinject
