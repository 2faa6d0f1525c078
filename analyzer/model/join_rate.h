// SPDX-License-Identifier: Apache-2.0
// How many GPU operations are joined to the call that launched them.
#pragma once

#include <cstdint>
#include <optional>

#include "analyzer/model/op_range.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Adds up over devices.
struct JoinRate {
  std::int64_t operations = 0, joined = 0;
  std::int64_t beyond = 0;      // of which nothing can be said (Rank::CallIsBeyond): not in these
  bool calls_recorded = false;  // false: there was nothing to join to

  // Empty without operations or recorded calls.
  std::optional<double> share() const;
  JoinRate& operator+=(const JoinRate& other);
};

// Of those operations; of all of a rank's, on all its devices. O(operations).
JoinRate CountJoins(const Rank& rank, const GpuOps& ops, OpRange range);
JoinRate CountJoins(const Rank& rank);

}  // namespace traceinject
