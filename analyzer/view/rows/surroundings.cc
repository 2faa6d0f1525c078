// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/surroundings.h"

#include <algorithm>

namespace traceinject {

std::vector<EventRef> EventsAround(const RowModel& model, RowKind kind, const HostMoment& moment) {
  std::vector<EventRef> around;
  for (std::uint32_t index = 0; index < model.rows.size(); ++index) {
    const Row& row = model.rows[index];
    if (row.kind != kind || row.rank != moment.rank || row.thread != moment.thread) continue;
    for (std::uint32_t lane = 0; lane < row.lanes.size(); ++lane) {
      const std::size_t event = row.lanes[lane].FirstEndingAfter(moment.time);
      if (event == row.lanes[lane].size()) continue;
      // What starts at the moment and has no length does not contain it.
      if (row.lanes[lane].start(event) > moment.time) continue;
      if (row.lanes[lane].end(event) <= moment.time) continue;
      around.push_back({index, lane, static_cast<std::uint32_t>(event)});
    }
  }
  std::stable_sort(around.begin(), around.end(), [&model](const EventRef& a, const EventRef& b) {
    const TimeNs a_start = model.lane(a).start(a.event), b_start = model.lane(b).start(b.event);
    if (a_start != b_start) return a_start < b_start;
    return model.lane(a).end(a.event) > model.lane(b).end(b.event);
  });
  return around;
}

}  // namespace traceinject
