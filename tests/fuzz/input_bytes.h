// SPDX-License-Identifier: Apache-2.0
// An input as a list of choices. Behind its end all choices are 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace traceinject {

class InputBytes {
 public:
  explicit InputBytes(std::string_view bytes) : bytes_(bytes) {}

  bool is_empty() const { return bytes_.empty(); }
  std::uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  // Of so many bytes, at most 8, in little endian.
  std::uint64_t Number(int bytes) {
    std::uint64_t number = 0;
    for (int i = 0; i < bytes; ++i) number |= std::uint64_t{Byte()} << (8 * i);
    return number;
  }
  // From 0 to `limit` - 1; 0 where there is nothing to choose from.
  std::size_t Below(std::size_t limit) {
    if (limit <= 1) return 0;
    return Number(limit > 256 ? 2 : 1) % limit;
  }
  // So many bytes, or what is left.
  std::string_view Take(std::size_t bytes) {
    const std::string_view taken = bytes_.substr(0, bytes);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view Rest() { return Take(bytes_.size()); }

 private:
  std::string_view bytes_;
};

}  // namespace traceinject
