// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/compare/statistics/mean_difference.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// The message about a mean of steps; times are rounded to whole nanoseconds.
proto::Change ChangeOf(const MeanDifference& difference);

// Sets the times again, and the change and its share from them.
void SetTimes(std::int64_t before_ns, std::int64_t after_ns, proto::Change& change);

}  // namespace traceinject
