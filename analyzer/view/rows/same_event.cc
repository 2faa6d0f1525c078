// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/same_event.h"

#include "analyzer/view/rows/event_text.h"

namespace traceinject {
namespace {

bool AreSameProcess(const Rank& a, const Rank& b) {
  return a.path == b.path && a.process.pid == b.process.pid && a.rank == b.rank;
}

// A rank has several rows called "idle", one in each of its GPUs' groups.
bool AreInSameGroup(const RowModel& a, const Row& row_a, const RowModel& b, const Row& row_b) {
  if (row_a.parent == kNone || row_b.parent == kNone) return row_a.parent == row_b.parent;
  return a.rows[row_a.parent].label == b.rows[row_b.parent].label;
}

}  // namespace

std::uint32_t SameRow(const Run& from_run, const RowModel& from, std::uint32_t row, const Run& run,
                      const RowModel& model) {
  const Row& wanted = from.rows[row];
  for (std::uint32_t i = 0; i < model.rows.size(); ++i) {
    const Row& other = model.rows[i];
    if (other.kind == wanted.kind && other.label == wanted.label &&
        AreInSameGroup(model, other, from, wanted) &&
        AreSameProcess(run.ranks[other.rank], from_run.ranks[wanted.rank])) {
      return i;
    }
  }
  return kNone;
}

std::optional<EventRef> SameEvent(const Run& from_run, const RowModel& from, const EventRef& ref,
                                  const Run& run, const RowModel& model) {
  const std::uint32_t row = SameRow(from_run, from, ref.row, run, model);
  if (row == kNone) return std::nullopt;
  const TimeNs start = from.lane(ref).start(ref.event) + from_run.base_ns - run.base_ns;
  const std::string_view name = EventLabel(from_run, from, ref);
  const std::vector<Lane>& lanes = model.rows[row].lanes;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    for (std::size_t event = lanes[lane].FirstEndingAfter(start);
         event < lanes[lane].size() && lanes[lane].start(event) <= start; ++event) {
      const EventRef same{row, lane, static_cast<std::uint32_t>(event)};
      if (lanes[lane].start(event) == start && EventLabel(run, model, same) == name) return same;
    }
  }
  return std::nullopt;
}

}  // namespace traceinject
