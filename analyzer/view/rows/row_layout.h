// SPDX-License-Identifier: Apache-2.0
// Where the rows of a list stand, in pixels from the top of the first one. Pinned rows come first;
// whoever draws does not scroll them.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/view/rows/row_list.h"
#include "analyzer/view/style/sizes.h"

namespace traceinject {

class RowLayout {
 public:
  RowLayout() = default;
  // Rows of many lanes get lower ones, those of whole GPUs and of figures higher ones. O(rows).
  RowLayout(const RowModel& model, const RowList& list, const Sizes& sizes);

  float height_px() const { return tops_.empty() ? 0 : tops_.back(); }
  // Height of the pinned rows.
  float pinned_px() const { return pinned_count_ == 0 ? 0 : tops_[pinned_count_]; }

  // Whether the row itself has a place. One that has not takes that of the group that stands for
  // it, or the very top.
  bool Shows(std::size_t row) const;
  float top_px(std::size_t row) const { return tops_[place_[row]]; }
  float bottom_px(std::size_t row) const { return tops_[place_[row] + 1]; }
  float lane_top_px(std::size_t row, std::size_t lane) const;
  float lane_px(std::size_t row) const;
  // Whether a pinned row or one that a pinned row stands for.
  bool IsPinned(std::size_t row) const { return place_[row] < pinned_count_; }

  // The pinned rows, and those of the others that show in [top_px, bottom_px), from the top.
  // O(log n).
  std::span<const std::uint32_t> PinnedRows() const;
  std::span<const std::uint32_t> RowsBetween(float top_px, float bottom_px) const;
  // The row at a height; kNone if there is none. O(log n).
  std::uint32_t RowAt(float y_px) const;
  // The same and its lane: the number of lanes if it is in none. In a collapsed group the row of
  // which the density is shown there. The number of rows if there is none.
  std::pair<std::size_t, std::size_t> At(float y_px, const RowModel& model) const;

 private:
  // A row whose density a collapsed heading shows.
  struct Summary {
    std::uint32_t row = kNone;
    float top_px = 0, lane_px = 0;
  };
  std::size_t PlaceAt(float y_px) const;
  const Summary* SummaryOf(std::size_t row) const;

  float padding_px_ = 0;
  std::vector<std::uint32_t> rows_;  // by place, pinned first
  std::size_t pinned_count_ = 0;
  std::vector<float> tops_ = {0, 0};             // of each place, and the bottom of the last
  std::vector<float> lane_px_;                   // of each place
  std::vector<std::size_t> place_;               // by row
  std::vector<std::vector<Summary>> summaries_;  // by place
};

}  // namespace traceinject
