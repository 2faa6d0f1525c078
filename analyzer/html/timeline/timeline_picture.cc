// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/timeline/timeline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "analyzer/view/style/theme.h"

namespace traceinject {
namespace {

constexpr int kMostColumns = 1024, kLeastColumns = 32;
constexpr int kHeights = 4;  // that a column can have

// One color of a row: pieces of columns as a path.
using Paths = std::map<Rgba, std::string>;

class RowPicture {
 public:
  RowPicture(const Excerpt& excerpt, const ExcerptRow& row, int columns)
      : excerpt_(excerpt),
        row_(row),
        columns_(columns),
        lane_px_(static_cast<int>(std::lround(row.lane_px))) {}

  Paths Draw() {
    for (std::size_t lane = 0; lane < row_.lanes.size(); ++lane) DrawLane(lane);
    if (!row_.counter.empty()) DrawCounter();
    return std::move(paths_);
  }

 private:
  struct Column {
    std::map<Rgba, double> busy;  // in columns
  };
  // What a column looks like.
  struct Mark {
    Rgba color = 0;
    int height = 0;
    bool operator==(const Mark&) const = default;
  };

  double Place(TimeNs time) const {
    const Interval whole = excerpt_.chosen.time;
    return std::clamp(static_cast<double>(time - whole.start) /
                          static_cast<double>(whole.end - whole.start),
                      0.0, 1.0) *
           columns_;
  }

  // Spreads what is busy over the columns that it lies in.
  void Spread(const ExcerptSpan& span, std::vector<Column>& columns) const {
    const double from = Place(span.time.start), to = Place(span.time.end);
    const double share =
        static_cast<double>(span.time.busy) / static_cast<double>(span.time.end - span.time.start);
    const Rgba color = excerpt_.colors[excerpt_.looks[span.look].color].color;
    for (int column = static_cast<int>(from); column < columns_ && column < to; ++column) {
      const double inside = std::min<double>(to, column + 1) - std::max<double>(from, column);
      columns[static_cast<std::size_t>(column)].busy[color] += inside * share;
    }
  }

  static Mark MarkOf(const Column& column) {
    Mark mark;
    double most = 0, sum = 0;
    for (const auto& [color, busy] : column.busy) {
      sum += busy;
      if (busy > most) mark.color = color;
      most = std::max(most, busy);
    }
    // However little it is, it is seen.
    if (sum > 0)
      mark.height = std::clamp(static_cast<int>(std::lround(sum * kHeights)), 1, kHeights);
    return mark;
  }

  void DrawLane(std::size_t lane) {
    std::vector<Column> columns(static_cast<std::size_t>(columns_));
    for (const ExcerptSpan& span : row_.lanes[lane]) Spread(span, columns);
    std::vector<Mark> marks;
    for (const Column& column : columns) marks.push_back(MarkOf(column));
    DrawMarks(marks, static_cast<int>(lane) * lane_px_);
  }

  void DrawCounter() {
    std::vector<Mark> marks(static_cast<std::size_t>(columns_));
    for (const CounterSpan& span : row_.counter) {
      const int height = row_.most <= 0
                             ? 0
                             : static_cast<int>(std::ceil(static_cast<double>(span.range.most) *
                                                          kHeights / row_.most));
      for (int column = static_cast<int>(Place(span.start));
           column < columns_ && column < Place(span.end); ++column) {
        Mark& mark = marks[static_cast<std::size_t>(column)];
        mark = {LightTheme().counter, std::max(mark.height, std::clamp(height, 0, kHeights))};
      }
    }
    DrawMarks(marks, 0);
  }

  // Neighbors that look alike are one box.
  void DrawMarks(const std::vector<Mark>& marks, int top_px) {
    for (std::size_t first = 0, last = 0; first < marks.size(); first = last) {
      while (last < marks.size() && marks[last] == marks[first]) ++last;
      if (marks[first].height == 0) continue;
      const int height = std::max(1, (lane_px_ - 1) * marks[first].height / kHeights);
      paths_[marks[first].color] +=
          fmt::format("M{} {}h{}v{}h-{}z", first, top_px + lane_px_ - 1 - height, last - first,
                      height, last - first);
    }
  }

  const Excerpt& excerpt_;
  const ExcerptRow& row_;
  int columns_, lane_px_;
  Paths paths_;
};

void WriteRow(Markup& out, const ExcerptRow& row, const Paths& paths, int columns) {
  const auto line =
      out.Open("div", {{"class", row.heading ? "picture-row heading" : "picture-row"}});
  out.Leaf("span", row.label, {{"class", fmt::format("picture-label depth{}", row.depth)}});
  if (paths.empty()) return;
  const auto lanes = static_cast<float>(std::max<std::size_t>(row.lanes.size(), 1));
  const std::string height = fmt::format("{}", std::lround(row.lane_px) * std::lround(lanes));
  const auto svg = out.Open("svg", {{"viewBox", fmt::format("0 0 {} {}", columns, height)},
                                    {"preserveAspectRatio", "none"},
                                    {"height", height},
                                    {"aria-hidden", "true"}});
  for (const auto& [color, path] : paths)
    out.Void("path", {{"fill", fmt::format("#{:06x}", color >> 8U)}, {"d", path}});
}

std::string DrawPicture(const Excerpt& excerpt, int columns) {
  Markup out;
  for (const ExcerptRow& row : excerpt.rows)
    WriteRow(out, row, RowPicture(excerpt, row, columns).Draw(), columns);
  return out.text();
}

}  // namespace

void WriteTimelinePicture(Markup& out, const Excerpt& excerpt, std::size_t max_bytes) {
  int columns = kMostColumns;
  std::string picture = DrawPicture(excerpt, columns);
  while (picture.size() > max_bytes && columns > kLeastColumns) {
    columns /= 2;
    picture = DrawPicture(excerpt, columns);
  }
  const auto open = out.Open("div", {{"class", "timeline-picture"}});
  out.Verbatim(picture);
}

}  // namespace traceinject
