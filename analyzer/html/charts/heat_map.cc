// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxColumns = 160;
// Limits between the shades, and the words for what lies below each.
constexpr std::array<double, 5> kLimits = {0.01, 0.02, 0.05, 0.10, 0.20};
constexpr std::array<const char*, 6> kWords = {"below 1 %", "1 to 2 %",   "2 to 5 %",
                                               "5 to 10 %", "10 to 20 %", "20 % and more"};
constexpr std::size_t kLabelWidth = 18;
constexpr int kMaxRowHeight = 18, kMinRowHeight = 5, kLabelHeight = 12, kWantedHeight = 480;
constexpr int kUnknown = -1;

int LevelOf(double share) {
  if (std::isnan(share)) return kUnknown;
  int level = 0;
  while (level < static_cast<int>(kLimits.size()) &&
         share >= kLimits[static_cast<std::size_t>(level)])
    ++level;
  return level;
}

// Of the columns that one stands for; NaN where none is known.
std::vector<double> Merged(const std::vector<double>& shares, std::size_t all,
                           std::size_t columns) {
  std::vector<double> merged(columns, NAN);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    double& share = merged[i * columns / all];
    if (std::isnan(share) || shares[i] > share) share = shares[i];
  }
  return merged;
}

// One path a shade: neighbors of one shade are one stroke.
std::array<std::string, kWords.size()> StrokesOf(const std::vector<HeatRow>& rows, std::size_t all,
                                                 std::size_t columns) {
  std::array<std::string, kWords.size()> strokes;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::vector<double> shares = Merged(rows[row].shares, all, columns);
    for (std::size_t from = 0; from < columns;) {
      const int level = LevelOf(shares[from]);
      std::size_t to = from + 1;
      while (to < columns && LevelOf(shares[to]) == level) ++to;
      if (level != kUnknown)
        strokes[static_cast<std::size_t>(level)] +=
            fmt::format("M{} {}.5h{}", from, row, to - from);
      from = to;
    }
  }
  return strokes;
}

std::string MarkOfLevel(std::size_t level) { return fmt::format("heat{}", level); }

void WriteRowLabels(Markup& out, const std::vector<HeatRow>& rows, int row_height) {
  const std::size_t each = static_cast<std::size_t>((kLabelHeight + row_height - 1) / row_height);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double top = static_cast<double>(row) * row_height;
    if (row % each == 0)
      out.Leaf("text", ShortenMiddle(rows[row].label, kLabelWidth),
               {{"class", "tick"},
                {"x", "-8"},
                {"y", Number(top + std::min(row_height, kMaxRowHeight) / 2.0 + 4)},
                {"text-anchor", "end"}});
    out.Void("rect", {{"class", "hit"},
                      {"x", "0"},
                      {"width", "100%"},
                      {"y", Number(top)},
                      {"height", Number(row_height)},
                      {"data-tip", rows[row].tip}});
  }
}

}  // namespace

void WriteHeatMap(Markup& out, const ChartText& text, const std::vector<HeatRow>& rows,
                  const std::string& columns_are, double first) {
  std::size_t all = 0;
  for (const HeatRow& row : rows) all = std::max(all, row.shares.size());
  if (all == 0) return;
  const std::size_t columns = std::min(all, kMaxColumns);
  const int count = static_cast<int>(rows.size());
  const int row_height = std::clamp(kWantedHeight / count, kMinRowHeight, kMaxRowHeight);
  const std::string height = fmt::format("{}", row_height * count);
  const auto figure = out.Open("figure", {{"class", "chart heat"}});
  {
    const auto caption = out.Open("figcaption");
    out.Leaf("b", text.title);
    std::vector<ChartKey> legend;
    for (std::size_t level = 0; level < kWords.size(); ++level)
      legend.push_back({MarkOfLevel(level), kWords[level]});
    WriteLegend(out, legend);
  }
  const std::string id = out.NewId();
  {
    const auto svg = out.Open("svg", {{"class", "plot"},
                                      {"role", "img"},
                                      {"width", "100%"},
                                      {"height", height},
                                      {"aria-labelledby", id + "t " + id + "d"}});
    out.Leaf("title", text.title, {{"id", id + "t"}});
    out.Leaf("desc", text.description, {{"id", id + "d"}});
    {
      const auto inner =
          out.Open("svg", {{"width", "100%"},
                           {"height", height},
                           {"viewBox", fmt::format("0 0 {} {}", columns, rows.size())},
                           {"preserveAspectRatio", "none"}});
      const auto strokes = StrokesOf(rows, all, columns);
      for (std::size_t level = 0; level < strokes.size(); ++level) {
        if (!strokes[level].empty())
          out.Void("path", {{"class", "stroke " + MarkOfLevel(level)}, {"d", strokes[level]}});
      }
    }
    WriteRowLabels(out, rows, row_height);
    const Scale scale{first - 0.5, first + static_cast<double>(all) - 0.5, false};
    for (const Tick& tick : TicksOf(scale, 6, PlainTick))
      out.Leaf("text", tick.text,
               {{"class", "tick"},
                {"x", PercentOf(tick.place)},
                {"y", Number(row_height * count + 16)},
                {"text-anchor", tick.place > 0.96 ? "end" : "middle"}});
    out.Leaf("text", columns_are,
             {{"class", "axis"},
              {"x", "100%"},
              {"y", Number(row_height * count + 34)},
              {"text-anchor", "end"}});
  }
  if (columns < all)
    out.Leaf(
        "p",
        fmt::format("Each column covers {:.1f} of {} {}s and shows the largest value among them.",
                    static_cast<double>(all) / static_cast<double>(columns),
                    FormatCount(static_cast<std::int64_t>(all)), columns_are),
        {{"class", "note"}});
}

}  // namespace traceinject
