// SPDX-License-Identifier: Apache-2.0
// Unwind tables (.eh_frame_hdr and .eh_frame) as linkers write them, for functions that are not
// there. An input chooses encodings and instructions, and bytes that are changed.
#pragma once

#include <cstdint>
#include <string>

#include "tests/fuzz/input_bytes.h"

namespace traceinject {

struct UnwindTables {
  // Of functions of so many bytes, one behind the other.
  static constexpr std::uint64_t kFunctions = 0x1000, kFunctionBytes = 64;
  static constexpr std::uint64_t kIndex = 0x10000;  // where .eh_frame_hdr is

  std::string bytes;  // from there on
};

UnwindTables SomeUnwindTables(InputBytes& input);

}  // namespace traceinject
