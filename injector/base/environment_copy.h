// SPDX-License-Identifier: Apache-2.0
// The environment as it was when the program initialized CUDA, on the program's own thread. The
// writer thread must not look at `environ` itself: the program may add a variable at that moment,
// and the C library then moves and frees what is being read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

class EnvironmentCopy {
 public:
  // Copies a block of "NAME=value" strings that ends with a null pointer, as `environ`. O(bytes).
  explicit EnvironmentCopy(const char* const* block);
  EnvironmentCopy(const EnvironmentCopy&) = delete;
  EnvironmentCopy& operator=(const EnvironmentCopy&) = delete;

  // In the form of `environ`; lives as long as this object.
  const char* const* block() const { return pointers_.data(); }
  // Empty: not set, or set to nothing.
  std::string_view Get(std::string_view name) const;

 private:
  std::vector<std::string> entries_;
  std::vector<const char*> pointers_;  // to the entries, and a null pointer
};

}  // namespace traceinject
