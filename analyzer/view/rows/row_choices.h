// SPDX-License-Identifier: Apache-2.0
// What the user chose about rows: while the window is open by index, in a file by Row::id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// A value, so that it can be kept and brought back. Rows are indices into RowModel::rows.
struct RowChoices {
  std::set<std::uint32_t> collapsed, hidden;
  std::vector<std::uint32_t> pinned;  // in the order in which they stand
  std::string filter;
  std::vector<std::uint32_t> order;  // all rows; those of a group stand in this order
  bool operator==(const RowChoices&) const = default;
};

// The same by Row::id, without the filter, which is for a moment. Only what is not as at first: of
// the order whole groups, and for groups that are folded up at first those that are `opened`.
struct SavedRows {
  std::vector<std::string> collapsed, opened, hidden, pinned, order;
  bool operator==(const SavedRows&) const = default;
};

// More ranks than this are folded up at first, but for those that something is said of.
inline constexpr std::size_t kMostOpenRanks = 2;

// As at first, but for the order, which is empty: of more than `most_open` ranks only those of
// `open_ranks`, indices into Run::ranks, are open. O(rows).
RowChoices FirstChoices(const RowModel& model, const std::set<std::uint32_t>& open_ranks,
                        std::size_t most_open);

// What is not as it was at first. O(rows log rows).
SavedRows SaveRows(const RowModel& model, const RowChoices& choices, const RowChoices& first);

struct RestoredRows {
  RowChoices choices;
  SavedRows unknown;  // rows that the model does not have
};
// The order holds the rows that were saved, and no others.
RestoredRows RestoreRows(const RowModel& model, const SavedRows& saved, const RowChoices& first);

}  // namespace traceinject
