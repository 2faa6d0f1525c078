// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_clock.h"

#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

TimeNs MergeClock::Of(TimeNs time) const {
  if (!IsPlausible(time)) return time;
  const TimeNs moved = time + to_job + from_job;
  if (!fit) return moved;
  TimeNs repaired = time;
  for (const ClockStep& step : steps) {
    if (step.repaired && repaired > step.at_ns) repaired -= step.by_ns;
  }
  const TimeNs own = repaired + to_job;
  return moved + (ToJob(*fit, own) - own);
}

}  // namespace traceinject
