// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/first_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/common/printable.h"
#include "viewer/core/timeline/commands.h"

namespace traceinject {
namespace {

std::uint32_t HeadingOf(const RowModel& model, std::uint32_t rank) {
  const auto is_heading = [rank](const Row& row) {
    return row.kind == RowKind::kRank && row.rank == rank;
  };
  const auto found = std::find_if(model.rows.begin(), model.rows.end(), is_heading);
  return found == model.rows.end() ? kNone : static_cast<std::uint32_t>(found - model.rows.begin());
}

std::string WholeRunHint() {
  const auto whole = std::ranges::find(Commands(), CommandId::kShowAll, &Command::id);
  return KeyPressName(whole->key) + ": whole run";
}

std::string TextOf(const Timeline& timeline, const ChosenSteps& steps, std::uint32_t heading) {
  const bool of_many = timeline.run().ranks.size() > 1 && heading != kNone;
  return fmt::format("{}{}{} ({})", steps.judged ? "judged " : "", steps.text,
                     of_many ? " of " + Printable(timeline.model().rows[heading].label) : "",
                     WholeRunHint());
}

}  // namespace

void FirstView::Begin(bool leads) {
  enabled_ = awaited_ = leads;
  text_.clear();
}

void FirstView::Lead(const RunReport& report, Timeline& timeline) {
  if (!std::exchange(enabled_, false) || !report.guilty) return;
  const auto& [rank, steps] = *report.guilty;
  const std::uint32_t heading = HeadingOf(timeline.model(), rank);
  time_ = steps.time;
  text_ = TextOf(timeline, steps, heading);
  if (!std::exchange(awaited_, false)) return;
  timeline.ChangeRows([of = rank](RowList& list) { list.OpenRanks({of}, 1); });
  timeline.Show(time_.start, time_.end);
  if (heading != kNone) timeline.RevealGroup(heading);
}

std::string FirstView::Text(const Timeline& timeline) const {
  const TimelineView& view = timeline.view();
  return view.start_ns() == time_.start && view.end_ns() == time_.end ? text_ : "";
}

}  // namespace traceinject
