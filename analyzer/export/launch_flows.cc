// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/launch_flows.h"

namespace traceinject {

LaunchFlows::LaunchFlows(const Rank& rank) : begins_(rank.api.size()), ends_(rank.devices.size()) {
  for (std::size_t device = rank.devices.size(); device-- > 0;) {
    const GpuOps& ops = rank.devices[device].ops;
    ends_[device].resize(ops.size());
    for (std::size_t row = ops.size(); row-- > 0;) {
      const std::uint32_t call = ops.launch[row];
      if (call == kNone || begins_[call]) continue;
      begins_[call] = true;
      ends_[device][row] = true;
    }
  }
}

}  // namespace traceinject
