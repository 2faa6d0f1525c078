// SPDX-License-Identifier: Apache-2.0
// Search by name: the hits, how long they take, and stepping through them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/view/rows/find.h"
#include "analyzer/view/rows/statistics.h"
#include "viewer/core/load/latest_task.h"
#include "viewer/core/timeline/timeline.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

class FindPanel {
 public:
  // Both must outlive this.
  FindPanel(const Run& run, const RowModel& model);

  void Draw(Timeline& timeline, Controls& controls);

  // The same run was read anew: it is searched for the same. Rows that were chosen by themselves
  // are all of them again, since rows may have come.
  void ContinueFrom(const FindPanel& before);

  // From the next frame on keys go into the field.
  void TakeFocus() { focus_ = true; }
  // Looks for events with exactly this name in these rows.
  void FindName(const std::string& name, std::vector<std::uint32_t> rows);
  // Selects the next hit and shows it, from the last one around to the first.
  void Step(int hits, Timeline& timeline);

  bool busy() const { return task_.busy(); }
  void Wait() const { task_.Wait(); }
  // The newest answer; null before the first and when nothing is looked for.
  const FindResult* result() const { return result_.get(); }
  // For the overview; empty when nothing is looked for.
  const std::vector<bool>& marks() const;

 private:
  void DrawField(Timeline& timeline, Controls& controls);
  void DrawRowChoice(const Timeline& timeline, Controls& controls);
  void ChooseRows(RowGroup rows);
  void DrawSummary(Controls& controls);
  void DrawHits(Timeline& timeline, Controls& controls);
  void DrawHistogram(const Theme& theme, Controls& controls);
  void FilterByDrag(float left_px, float bin_px, std::size_t first_bin, std::size_t last_bin);
  void ShowHit(std::size_t hit, Timeline& timeline);
  void Ask();

  const Run& run_;
  const RowModel& model_;
  std::vector<RowGroup> groups_;  // all rows, then by kind
  RowGroup rows_;                 // where to look
  std::string text_;
  bool whole_ = false, focus_ = false;
  TimeNs shortest_ns_ = 0, longest_ns_ = kOpen;

  LatestTask<FindQuery, FindResult> task_;
  std::shared_ptr<const FindResult> result_;
  std::optional<std::size_t> current_;  // hit that was shown last
  bool scroll_to_current_ = false;
  std::optional<std::size_t> drag_bin_;  // where a drag over the histogram began
};

}  // namespace traceinject
