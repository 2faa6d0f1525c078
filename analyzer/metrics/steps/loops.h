// SPDX-License-Identifier: Apache-2.0
// Loops of a few launches each, as compiled programs run them: the same again and again without
// anything that marks where one ends, now and then interrupted by an evaluation or a checkpoint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/metrics/steps/launch_sequence.h"

namespace traceinject {

// A body and where it begins, in elements of a sequence. What interrupts the loop belongs to the
// body before it.
struct Loop {
  std::vector<std::uint32_t> begins;
  std::uint32_t end = 0;    // of the last body
  double covered = 0;       // of the device's work, in bodies that nothing interrupts
  bool takes_data = false;  // the body copies something to the device
  bool one_kernel = false;  // it is one operation and nothing else
};

// The shortest body with a kernel that is repeated at least 16 times in a row, by the names of its
// elements, and with all its repetitions makes up most of the work. A body that is repeated inside
// of a longer one is none: the longer one comes in fewer runs. Empty: there is none. O(elements *
// kLongestBody).
inline constexpr std::size_t kLongestBody = 128;
std::optional<Loop> FindLoop(const LaunchSequence& sequence);

}  // namespace traceinject
