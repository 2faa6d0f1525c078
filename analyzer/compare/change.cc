// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/change.h"

#include "analyzer/common/whole.h"

namespace traceinject {
namespace {}  // namespace

void SetTimes(std::int64_t before_ns, std::int64_t after_ns, proto::Change& change) {
  change.set_before_ns(before_ns);
  change.set_after_ns(after_ns);
  change.set_change_ns(after_ns - before_ns);
  change.clear_change_share();
  if (before_ns != 0)
    change.set_change_share(static_cast<double>(after_ns - before_ns) /
                            static_cast<double>(before_ns));
}

proto::Change ChangeOf(const MeanDifference& difference) {
  proto::Change change;
  SetTimes(Whole(difference.before), Whole(difference.after), change);
  if (difference.interval) {
    change.set_low_ns(Whole(difference.interval->low));
    change.set_high_ns(Whole(difference.interval->high));
  }
  change.set_certain(difference.certain());
  change.set_block_steps(static_cast<std::int64_t>(difference.block));
  return change;
}

}  // namespace traceinject
