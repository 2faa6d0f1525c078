// SPDX-License-Identifier: Apache-2.0
// Where the rows stand, in pixels from the top of the first one.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "viewer/core/rows.h"

namespace traceinject {

class RowLayout {
 public:
  RowLayout() = default;
  // `lane_px`: height of a lane with text. Rows of many lanes get lower ones,
  // those of whole GPUs higher ones.
  RowLayout(const RowModel& model, float lane_px);

  float height_px() const { return tops_.empty() ? 0 : tops_.back(); }
  float top_px(std::size_t row) const { return tops_[row]; }
  float bottom_px(std::size_t row) const { return tops_[row + 1]; }
  float lane_top_px(std::size_t row, std::size_t lane) const {
    return tops_[row] + kPaddingPx + static_cast<float>(lane) * lane_px_[row];
  }
  float lane_px(std::size_t row) const { return lane_px_[row]; }

  // Rows [first, last) that show in [top_px, bottom_px). O(log n).
  std::pair<std::size_t, std::size_t> VisibleRows(float top_px, float bottom_px) const;
  // The row at a height, and its lane: the number of lanes if it is in none. The number of rows if
  // there is none. O(log n).
  std::pair<std::size_t, std::size_t> At(float y_px, const RowModel& model) const;

 private:
  static constexpr float kPaddingPx = 2;
  std::vector<float> tops_;     // of each row, and the bottom of the last
  std::vector<float> lane_px_;  // of each row
};

}  // namespace traceinject
