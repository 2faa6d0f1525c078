// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace traceinject {
namespace {

// Of the stretched drawings: fine enough for any screen.
constexpr double kUnits = 1000;

// So that the first and the last do not stand out of the chart.
const char* AnchorAt(double place) {
  return place > 0.96 ? "end" : place < 0.02 ? "start" : "middle";
}

}  // namespace

void WriteLegend(Markup& out, std::span<const ChartKey> legend) {
  if (legend.empty()) return;
  const auto list = out.Open("ul", {{"class", "legend"}});
  for (const ChartKey& entry : legend) {
    const auto item = out.Open("li");
    out.Leaf("i", "", {{"class", "swatch " + entry.mark}});
    out.Text(entry.text);
  }
}

Chart::Chart(Markup& out, const ChartText& text, Axis x, Axis y, int height_px)
    : out_(out), x_(std::move(x)), y_(std::move(y)), height_px_(height_px) {
  const std::string id = out_.NewId();
  out_.Begin("figure", {{"class", "chart"}});
  {
    const auto caption = out_.Open("figcaption");
    out_.Leaf("b", text.title);
    WriteLegend(out_, text.legend);
  }
  out_.Begin("svg", {{"class", "plot"},
                     {"role", "img"},
                     {"width", "100%"},
                     {"height", fmt::format("{}", height_px_)},
                     {"aria-labelledby", id + "t " + id + "d"}});
  out_.Leaf("title", text.title, {{"id", id + "t"}});
  out_.Leaf("desc", text.description, {{"id", id + "d"}});
  Grid();
}

Chart::~Chart() {
  out_.Close("svg");
  out_.Close("figure");
}

void Chart::Grid() {
  const auto text = [&](const std::string& words, const std::string& x, double y,
                        const char* anchor, const char* mark) {
    out_.Leaf("text", words,
              {{"x", x}, {"y", Number(y)}, {"text-anchor", anchor}, {"class", mark}});
  };
  for (const Tick& tick : y_.ticks) {
    const std::string y = Number(height_px_ * (1 - tick.place));
    out_.Void("line", {{"class", "grid"}, {"x1", "0"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
    text(tick.text, "-8", height_px_ * (1 - tick.place) + 4, "end", "tick");
  }
  for (const Tick& tick : x_.ticks) {
    const std::string x = PercentOf(tick.place);
    out_.Void("line", {{"class", "notch"},
                       {"x1", x},
                       {"x2", x},
                       {"y1", Number(height_px_)},
                       {"y2", Number(height_px_ + 4)}});
    text(tick.text, x, height_px_ + 18, AnchorAt(tick.place), "tick");
  }
  text(x_.title, "100%", height_px_ + 36, "end", "axis");
  text(y_.title, "-60", -12, "start", "axis");
}

void Chart::Path(const std::string& path, std::string_view mark) {
  const auto inner = out_.Open("svg", {{"x", "0"},
                                       {"y", "0"},
                                       {"width", "100%"},
                                       {"height", fmt::format("{}", height_px_)},
                                       {"viewBox", fmt::format("0 0 {} {}", kUnits, height_px_)},
                                       {"preserveAspectRatio", "none"}});
  out_.Void("path", {{"class", std::string(mark)}, {"d", path}});
}

void Chart::Area(std::span<const RangePoint> points, std::string_view mark) {
  if (points.empty()) return;
  std::string path;
  const auto add = [&](double x, double y) {
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", Number(kUnits * x_.scale.Place(x)),
                        Number(Y(y)));
  };
  for (const RangePoint& point : points) add(point.x, point.high);
  for (std::size_t i = points.size(); i-- > 0;) add(points[i].x, points[i].low);
  Path(path + "Z", mark);
}

void Chart::Line(std::span<const Point> points, std::string_view mark) {
  if (points.empty()) return;
  std::string path;
  for (const Point& point : points)
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L",
                        Number(kUnits * x_.scale.Place(point.x)), Number(Y(point.y)));
  Path(path, mark);
}

void Chart::Dot(Point at, std::string_view mark, const std::string& tip, double radius_px) {
  out_.Void("circle", {{"class", std::string(mark)},
                       {"cx", PercentOf(x_.scale.Place(at.x))},
                       {"cy", Number(Y(at.y))},
                       {"r", Number(radius_px)},
                       {"data-tip", tip}});
}

void Chart::Rule(double y, std::string_view mark, const std::string& text) {
  const double at = Y(y);
  out_.Void("line", {{"class", "rule " + std::string(mark)},
                     {"x1", "0"},
                     {"x2", "100%"},
                     {"y1", Number(at)},
                     {"y2", Number(at)}});
  if (!text.empty()) Label(x_.scale.high, y, text);
}

void Chart::Label(double x, double y, const std::string& text) {
  const double at = Y(y);
  // Below where there is no room above.
  out_.Leaf("text", text,
            {{"class", "rule-text"},
             {"x", PercentOf(x_.scale.Place(x))},
             {"y", Number(at < 16 ? at + 14 : at - 5)},
             {"text-anchor", "end"}});
}

void Chart::Name(Point dot, double radius_px, const std::string& text) {
  // As the page is usually as wide; a narrower one has fewer words free of each other.
  constexpr double kWidthPx = 900, kLetterPx = 6.5, kLinePx = 13, kGapPx = 4;
  const double place = x_.scale.Place(dot.x), gap = (radius_px + kGapPx) / kWidthPx;
  const double length = kLetterPx * static_cast<double>(text.size()) / kWidthPx;
  const bool left = place + gap + length > 1;
  const Words words{left ? place - gap - length : place + gap,
                    left ? place - gap : place + gap + length, Y(dot.y)};
  const auto lies_on = [&](const Words& other) {
    return words.from < other.to && other.from < words.to &&
           std::abs(words.y_px - other.y_px) < kLinePx;
  };
  if (words.from < 0 || std::any_of(names_.begin(), names_.end(), lies_on)) return;
  names_.push_back(words);
  out_.Leaf("text", text,
            {{"class", "rule-text"},
             {"x", PercentOf(left ? words.to : words.from)},
             {"y", Number(words.y_px + 4)},
             {"text-anchor", left ? "end" : "start"}});
}

void Chart::Column(double from_x, double to_x, const std::string& tip) {
  const double from = x_.scale.Place(from_x), to = x_.scale.Place(to_x);
  out_.Void("rect", {{"class", "hit"},
                     {"x", PercentOf(from)},
                     {"width", PercentOf(to - from)},
                     {"y", "0"},
                     {"height", fmt::format("{}", height_px_)},
                     {"data-tip", tip}});
}

}  // namespace traceinject
