// SPDX-License-Identifier: Apache-2.0
// What belongs together in two sequences of which either may lack parts, such as the operations
// that two ranks recorded on one communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

// Items agree if their kinds do; the time only decides between what agrees equally well.
struct SequenceItem {
  std::uint32_t kind = 0;
  TimeNs time = 0;
};

// Indices of items that belong together, both ascending.
using AlignedPairs = std::vector<std::pair<std::size_t, std::size_t>>;

// Training repeats itself, so that a sequence that began late fits at many places: of those with
// equal beginnings and with equal ends the one counts that fits more items, then the one that lies
// nearer in time. O(n) where the sequences agree; a place where they do not costs a search over the
// next few hundred.
AlignedPairs AlignSequences(std::span<const SequenceItem> a, std::span<const SequenceItem> b);

}  // namespace traceinject
