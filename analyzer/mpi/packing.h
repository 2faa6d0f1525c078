// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace traceinject {

// Numbers and texts behind each other.
class Packer {
 public:
  void Number(std::uint64_t number);
  void Text(std::string_view text);
  std::string Take() { return std::move(packed_); }

 private:
  std::string packed_;
};

// What a Packer made. Where that is cut off, ok() is false and what is read is empty.
class Unpacker {
 public:
  explicit Unpacker(std::string_view packed) : rest_(packed) {}
  std::uint64_t Number();
  std::string Text();
  bool ok() const { return ok_; }
  bool at_end() const { return !ok_ || rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace traceinject
