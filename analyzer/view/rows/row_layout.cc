// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_layout.h"

#include <algorithm>

namespace traceinject {
namespace {

constexpr std::size_t kFewLanes = 8;

float LaneHeight(const Row& row, const Sizes& sizes) {
  // What is read off a GPU's row, and off a figure's, is a height.
  if (row.kind == RowKind::kDevice || row.counter) return 2 * sizes.lane;
  if (row.kind == RowKind::kFrames) return sizes.frame_lane;
  return row.lanes.size() <= kFewLanes ? sizes.lane : sizes.lane / 2;
}

}  // namespace

RowLayout::RowLayout(const RowModel& model, const RowList& list, const Sizes& sizes)
    : padding_px_(sizes.row_pad) {
  rows_.assign(list.pinned().begin(), list.pinned().end());
  pinned_count_ = rows_.size();
  rows_.insert(rows_.end(), list.scrolled().begin(), list.scrolled().end());
  tops_.clear();
  place_.assign(model.rows.size(), 0);
  float top = 0;
  for (std::size_t place = 0; place < rows_.size(); ++place) {
    const Row& row = model.rows[rows_[place]];
    place_[rows_[place]] = place;
    tops_.push_back(top);
    lane_px_.push_back(LaneHeight(row, sizes));
    const auto lanes = static_cast<float>(std::max<std::size_t>(row.lanes.size(), 1));
    float height = lanes * lane_px_.back();
    std::vector<Summary>& summaries = summaries_.emplace_back();
    const auto summary_rows = list.Summary(rows_[place]);
    if (!summary_rows.empty()) {
      const auto count = static_cast<float>(summary_rows.size());
      const float each = std::max(height / count, sizes.least_summary_lane);
      for (const std::uint32_t inside : summary_rows) {
        summaries.push_back({inside, static_cast<float>(summaries.size()) * each, each});
      }
      height = count * each;
    }
    top += height + 2 * padding_px_;
  }
  tops_.push_back(top);
  if (rows_.empty()) {
    tops_.push_back(top);
    lane_px_.push_back(sizes.lane);
    summaries_.emplace_back();
  }
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const std::uint32_t stand_in = list.StandIn(row);
    place_[row] = stand_in == kNone ? 0 : place_[stand_in];
  }
}

bool RowLayout::Shows(std::size_t row) const {
  return place_[row] < rows_.size() && rows_[place_[row]] == row;
}

const RowLayout::Summary* RowLayout::SummaryOf(std::size_t row) const {
  for (const Summary& summary : summaries_[place_[row]]) {
    if (summary.row == row) return &summary;
  }
  return nullptr;
}

float RowLayout::lane_top_px(std::size_t row, std::size_t lane) const {
  const float top = top_px(row) + padding_px_;
  if (const Summary* summary = SummaryOf(row)) return top + summary->top_px;
  return Shows(row) ? top + static_cast<float>(lane) * lane_px(row) : top;
}

float RowLayout::lane_px(std::size_t row) const {
  if (const Summary* summary = SummaryOf(row)) return summary->lane_px;
  return lane_px_[place_[row]];
}

std::span<const std::uint32_t> RowLayout::PinnedRows() const {
  return std::span(rows_).first(pinned_count_);
}

std::span<const std::uint32_t> RowLayout::RowsBetween(float top_px, float bottom_px) const {
  const auto begin = tops_.begin() + static_cast<std::ptrdiff_t>(pinned_count_);
  const auto index = [this](auto found) { return static_cast<std::size_t>(found - tops_.begin()); };
  const std::size_t after_first = index(std::upper_bound(begin, tops_.end(), top_px));
  const std::size_t last =
      std::min(index(std::lower_bound(begin, tops_.end(), bottom_px)), rows_.size());
  const std::size_t first = after_first == pinned_count_ ? pinned_count_ : after_first - 1;
  if (first >= last) return {};
  return std::span(rows_).subspan(first, last - first);
}

std::size_t RowLayout::PlaceAt(float y_px) const {
  if (y_px < 0 || y_px >= height_px()) return rows_.size();
  return static_cast<std::size_t>(std::upper_bound(tops_.begin(), tops_.end(), y_px) -
                                  tops_.begin()) -
         1;
}

std::uint32_t RowLayout::RowAt(float y_px) const {
  const std::size_t place = PlaceAt(y_px);
  return place < rows_.size() ? rows_[place] : kNone;
}

std::pair<std::size_t, std::size_t> RowLayout::At(float y_px, const RowModel& model) const {
  const std::size_t place = PlaceAt(y_px);
  if (place >= rows_.size()) return {model.rows.size(), 0};
  const float offset = y_px - tops_[place] - padding_px_;
  for (const Summary& summary : summaries_[place]) {
    if (offset >= summary.top_px && offset < summary.top_px + summary.lane_px) {
      return {summary.row, 0};
    }
  }
  const std::size_t row = rows_[place], lanes = model.rows[row].lanes.size();
  if (offset < 0) return {row, lanes};
  return {row, std::min(static_cast<std::size_t>(offset / lane_px_[place]), lanes)};
}

}  // namespace traceinject
