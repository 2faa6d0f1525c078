// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/row_layout.h"

#include <algorithm>

namespace traceinject {
namespace {

constexpr std::size_t kFewLanes = 8;

float LaneHeight(const Row& row, float lane_px) {
  // What is read off a GPU's row is the height of its columns.
  if (row.kind == RowKind::kDevice || row.counter) return 2 * lane_px;
  return row.lanes.size() <= kFewLanes ? lane_px : lane_px / 2;
}

}  // namespace

RowLayout::RowLayout(const RowModel& model, float lane_px) {
  float top = 0;
  for (const Row& row : model.rows) {
    tops_.push_back(top);
    lane_px_.push_back(LaneHeight(row, lane_px));
    const auto lanes = static_cast<float>(std::max<std::size_t>(row.lanes.size(), 1));
    top += lanes * lane_px_.back() + 2 * kPaddingPx;
  }
  tops_.push_back(top);
}

std::pair<std::size_t, std::size_t> RowLayout::VisibleRows(float top_px, float bottom_px) const {
  if (tops_.size() < 2) return {0, 0};
  const std::size_t rows = tops_.size() - 1;
  const auto index = [this](auto found) { return static_cast<std::size_t>(found - tops_.begin()); };
  const std::size_t after_first = index(std::upper_bound(tops_.begin(), tops_.end(), top_px));
  const std::size_t last = index(std::lower_bound(tops_.begin(), tops_.end(), bottom_px));
  const std::size_t first = after_first == 0 ? 0 : after_first - 1;
  return {std::min(first, rows), std::min(last, rows)};
}

std::pair<std::size_t, std::size_t> RowLayout::At(float y_px, const RowModel& model) const {
  if (y_px < 0 || y_px >= height_px()) return {model.rows.size(), 0};
  const std::size_t row = VisibleRows(y_px, y_px + 1).first;
  const std::size_t lanes = model.rows[row].lanes.size();
  const float offset = y_px - lane_top_px(row, 0);
  if (offset < 0) return {row, lanes};
  return {row, std::min(static_cast<std::size_t>(offset / lane_px_[row]), lanes)};
}

}  // namespace traceinject
