// SPDX-License-Identifier: Apache-2.0
// Charts as inline SVG, drawn once for every width of the page: places along x are shares of the
// width, so that text and dots keep their size; lines and areas stretch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/html/charts/scale.h"
#include "analyzer/html/page/markup.h"

namespace traceinject {

struct Axis {
  Scale scale;
  std::vector<Tick> ticks;
  std::string title;
};

struct ChartKey {
  std::string mark;  // class of the style sheet
  std::string text;
};

struct ChartText {
  std::string title;
  std::string description;  // what a reader who does not see it needs to know
  std::vector<ChartKey> legend = {};
};

struct Point {
  double x = 0, y = 0;
};
struct RangePoint {
  double x = 0, low = 0, high = 0;
};

// The colored squares and their words.
void WriteLegend(Markup& out, std::span<const ChartKey> legend);

// A figure with one chart, open while this lives. `mark`: class of the style sheet. Marks lie above
// those that were drawn before.
class Chart {
 public:
  Chart(Markup& out, const ChartText& text, Axis x, Axis y, int height_px = 220);
  ~Chart();
  Chart(const Chart&) = delete;
  Chart& operator=(const Chart&) = delete;

  // From low to high, along x.
  void Area(std::span<const RangePoint> points, std::string_view mark);
  void Line(std::span<const Point> points, std::string_view mark);
  // `tip`: shown where the pointer is.
  void Dot(Point at, std::string_view mark, const std::string& tip, double radius_px = 4.5);
  // A dashed line across, with words at its right end; without words the legend says what it is.
  void Rule(double y, std::string_view mark, const std::string& text = {});
  // Words that end there, above the point.
  void Label(double x, double y, const std::string& text);
  // Words beside a dot, on the side where there is room; nothing where they would lie on others.
  void Name(Point dot, double radius_px, const std::string& text);
  // Something to point at from x to x, all over the height.
  void Column(double from_x, double to_x, const std::string& tip);

 private:
  double Y(double value) const { return height_px_ * (1 - y_.scale.Place(value)); }
  void Grid();
  void Path(const std::string& path, std::string_view mark);

  Markup& out_;
  Axis x_, y_;
  int height_px_;
  struct Words {
    double from = 0, to = 0, y_px = 0;  // along x as shares of the width
  };
  std::vector<Words> names_;
};

}  // namespace traceinject
