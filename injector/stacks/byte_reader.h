// SPDX-License-Identifier: Apache-2.0
// Takes numbers off bytes that may be anything: past their end every number is 0, and ok() false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace traceinject {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  template <typename Value>
  Value Take() {
    Value value{};
    if (!Has(sizeof value)) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  // LEB128 (DWARF 5, 7.6).
  std::uint64_t TakeUnsigned() { return TakeLeb(nullptr); }
  std::int64_t TakeSigned() {
    int shift = 0;
    const std::uint64_t value = TakeLeb(&shift);
    const bool is_negative = shift < 64 && ((value >> (shift - 1)) & 1) != 0;
    return static_cast<std::int64_t>(is_negative ? value | (~std::uint64_t{0} << shift) : value);
  }
  std::string_view TakeBytes(std::uint64_t count) {
    if (!Has(count)) return {};
    const std::string_view taken = bytes_.substr(at_, count);
    at_ += count;
    return taken;
  }
  // Up to the zero that ends it.
  std::string_view TakeText() {
    const std::size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) return Fail(), std::string_view();
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

 private:
  bool Has(std::uint64_t count) {
    if (count > left()) Fail();
    return ok_;
  }
  void Fail() {
    ok_ = false;
    at_ = bytes_.size();
  }
  // `bits`: how many it has, at least 1.
  std::uint64_t TakeLeb(int* bits) {
    std::uint64_t value = 0;
    int shift = 0;
    std::uint8_t byte = 0;
    do {
      byte = Take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
    } while (ok_ && (byte & 0x80) != 0);
    if (bits != nullptr) *bits = shift;
    return value;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace traceinject
