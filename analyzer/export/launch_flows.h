// SPDX-License-Identifier: Apache-2.0
// The arrows from launch calls to what they made the GPUs of a process do.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

class LaunchFlows {
 public:
  // O(operations); a bit an operation and a call.
  explicit LaunchFlows(const Rank& rank);

  // Whether something is known that the call launched: an arrow begins there.
  bool BeginsAt(std::uint32_t call) const { return begins_[call]; }
  // Whether the operation of rank.devices[device] is the last one of its call: the arrow ends
  // there, and goes on at others.
  bool EndsAt(std::size_t device, std::size_t row) const { return ends_[device][row]; }

 private:
  std::vector<bool> begins_;
  std::vector<std::vector<bool>> ends_;  // by device
};

}  // namespace traceinject
