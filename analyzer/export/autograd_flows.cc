// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/autograd_flows.h"

namespace traceinject {

AutogradFlows::AutogradFlows(const Rank& rank) : ranges_(rank.profiled) {
  for (std::uint32_t row = 0; row < ranges_.size(); ++row) {
    if (ranges_.sequence[row] < 0) continue;
    Ends& ends = ends_[ranges_.sequence[row]];
    if (ranges_.forward_thread[row] == 0) {
      if (ends.backward == kNone) ends.forward = row;
    } else if (ends.backward == kNone) {
      ends.backward = row;
    }
  }
}

const AutogradFlows::Ends* AutogradFlows::Find(std::uint32_t row) const {
  const auto found = ends_.find(ranges_.sequence[row]);
  return found == ends_.end() || !found->second.is_whole() ? nullptr : &found->second;
}

bool AutogradFlows::BeginsAt(std::uint32_t row) const {
  const Ends* const ends = Find(row);
  return ends != nullptr && ends->forward == row;
}

bool AutogradFlows::EndsAt(std::uint32_t row) const {
  const Ends* const ends = Find(row);
  return ends != nullptr && ends->backward == row;
}

}  // namespace traceinject
