// SPDX-License-Identifier: Apache-2.0
// Which rows are shown, and in which order: what the user folds up, pins, hides, filters and moves.
//
// Stands between RowModel (all rows, never changed) and RowLayout (pixels). Rows are indices into
// RowModel::rows.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/view/rows/row_choices.h"

namespace traceinject {

class RowList {
 public:
  // `model` must outlive the list. O(rows).
  explicit RowList(const RowModel& model);

  const RowChoices& choices() const { return choices_; }
  // Grows whenever they may have changed.
  std::uint64_t changes() const { return changes_; }
  // Rows that the model does not have are left out.
  void Choose(RowChoices choices);
  // What was saved, also of another list; the filter stays. Rows that the model does not have are
  // remembered for Saved().
  void Restore(const SavedRows& saved);
  SavedRows Saved() const;
  // Everything as at first.
  void Reset();

  // Of more than `most_open` ranks only these are open at first; to be told once it is known of
  // whom something is said. What the user folded up or opened stays so.
  void OpenRanks(const std::set<std::uint32_t>& ranks, std::size_t most_open = kMostOpenRanks);
  const std::set<std::uint32_t>& open_ranks() const { return open_ranks_; }
  std::size_t most_open() const { return most_open_; }
  // Streams and threads without events in [start_ns, end_ns) give way to a line that stands for
  // them, but for the rows in `kept`. False if that changes nothing.
  // O(rows of open groups x log events).
  bool SetSight(TimeNs start_ns, TimeNs end_ns, const std::set<std::uint32_t>& kept);

  // A collapsed group shows itself and none of its rows.
  void ToggleCollapsed(std::uint32_t group);
  // Pinned rows stand above all others, whatever is filtered or collapsed. Not for headings.
  void TogglePinned(std::uint32_t row);
  // With all its rows.
  void Hide(std::uint32_t row);
  // Shows rows whose text contains the filter, the groups that they are in, and all rows of groups
  // whose own text does. Small and capital letters are alike.
  void SetFilter(std::string_view text);
  // Swaps with the neighbor above (by < 0) or below that is shown, of the same group or of the
  // pinned. False if there is none.
  bool Move(std::uint32_t row, int by);
  // Puts the ranks that held the others up longest first; if they stand so, back in the order of
  // the model. Each goes with its rows.
  void SortRanks();
  // Folds up all ranks; if they are, opens them.
  void FoldRanks();
  // Shows all rows without events in sight; if they are shown, folds them away.
  void ToggleQuiet();
  // Opens and shows whatever keeps the row from being seen.
  void Reveal(std::uint32_t row);

  // From the top; first the pinned ones, which do not scroll.
  std::span<const std::uint32_t> pinned() const { return choices_.pinned; }
  std::span<const std::uint32_t> scrolled() const { return scrolled_; }
  bool IsGroup(std::uint32_t row) const {
    return !children_[row].empty() || model_.rows[row].kind == RowKind::kQuiet;
  }
  bool IsCollapsed(std::uint32_t row) const { return choices_.collapsed.contains(row); }
  bool IsPinned(std::uint32_t row) const;
  int depth(std::uint32_t row) const { return depth_[row]; }
  // The rows of which a collapsed heading shows the density, at most kMaxSummaryRows: its devices,
  // without any all rows that have events. Empty for other rows.
  std::span<const std::uint32_t> Summary(std::uint32_t row) const { return summary_[row]; }
  static constexpr std::size_t kMaxSummaryRows = 8;
  // The row, or the nearest group around it, that is shown; kNone: none is.
  std::uint32_t StandIn(std::uint32_t row) const;
  // What stands beside the row: "14 threads without events in sight" of a line for quiet rows.
  std::string Label(std::uint32_t row) const;
  // The groups around it: "rank 0 on node-a, GPU 0". Empty if there are none.
  std::string Context(std::uint32_t row) const;
  // Whether the group is open and shows nothing because all its rows are hidden.
  bool IsEmptied(std::uint32_t row) const;
  // What to do when no row is shown; empty when one is.
  std::string EmptyText() const;

 private:
  void Update();
  void Arrange();
  // Which rows are quiet now, by row. Groups that are not open keep what they had.
  std::vector<bool> FindQuiet() const;
  void FindQuietOf(std::uint32_t line, std::vector<bool>& quiet) const;
  // That a line stands for, or would if it were folded.
  std::vector<std::uint32_t> QuietRowsOf(std::uint32_t line) const;
  // Whether a line takes less room than what it stands for.
  bool IsOfUse(std::uint32_t line) const { return QuietRowsOf(line).size() > 1; }
  // Whether the row itself, not a group around it, gives way to its line.
  bool IsFoldedAway(std::uint32_t row) const;
  bool Matches(std::uint32_t row) const;
  // Marks what the filter lets through, from `row` down; whether anything was.
  bool Admit(std::uint32_t row, bool all);
  void Append(std::uint32_t row);
  void SortChildren();
  std::vector<std::uint32_t> SummaryOf(std::uint32_t row) const;

  const RowModel& model_;
  RowChoices choices_;
  std::uint64_t changes_ = 0;
  // What was brought back, what of it the model does not have, and what that made of the choices.
  SavedRows restored_, unknown_;
  RowChoices as_restored_;
  std::set<std::uint32_t> open_ranks_;
  std::size_t most_open_ = kMostOpenRanks;
  RowChoices first_;  // as at first
  std::vector<std::uint32_t> roots_;
  std::vector<std::vector<std::uint32_t>> children_;
  std::vector<int> depth_;
  // The rows that a line stands for when they are quiet, by its index; and the line of each row.
  std::map<std::uint32_t, std::vector<std::uint32_t>> quiet_lines_;
  std::vector<std::uint32_t> line_of_;
  TimeNs sight_start_ = 0, sight_end_ = 0;  // equal: not known
  std::set<std::uint32_t> kept_;
  std::vector<bool> quiet_;  // by row
  // Follow from the above.
  std::vector<std::uint32_t> scrolled_;
  std::vector<bool> admitted_, shown_;
  std::vector<std::vector<std::uint32_t>> summary_;
};

}  // namespace traceinject
