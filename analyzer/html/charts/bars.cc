// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/bars.h"

#include <algorithm>

namespace traceinject {
namespace {

constexpr double kHeight = 18, kDenseHeight = 9;
// From so many on, bars are thin.
constexpr std::size_t kDense = 12;

// A figure whose rows are label, drawing and amount; the drawing is one SVG of all rows' height.
class Rows {
 public:
  Rows(Markup& out, const ChartText& text, std::size_t rows)
      : out_(out),
        height_(rows < kDense ? kHeight : kDenseHeight),
        figure_(out.Open("figure", {{"class", rows < kDense ? "bars" : "bars dense"}})) {
    const auto caption = out.Open("figcaption");
    out.Leaf("b", text.title);
    WriteLegend(out, text.legend);
  }

  // `draw` fills the drawing of the row.
  template <typename Draw>
  void Row(const std::string& label, const std::string& amount, const std::string& description,
           Draw draw) {
    const auto row = out_.Open("div", {{"class", "bar-row"}});
    out_.Leaf("span", label, {{"class", "bar-label"}});
    {
      const std::string id = out_.NewId();
      const auto svg = out_.Open("svg", {{"class", "bar"},
                                         {"role", "img"},
                                         {"width", "100%"},
                                         {"height", Number(height_)},
                                         {"aria-labelledby", id + "t " + id + "d"}});
      out_.Leaf("title", label, {{"id", id + "t"}});
      out_.Leaf("desc", description, {{"id", id + "d"}});
      draw();
    }
    out_.Leaf("span", amount, {{"class", "bar-amount"}});
  }

  void Part(const std::string& mark, double from, double to, const std::string& tip) {
    out_.Void("rect", {{"class", mark},
                       {"x", PercentOf(from)},
                       {"width", PercentOf(to - from)},
                       {"y", "0"},
                       {"height", Number(height_)},
                       {"data-tip", tip}});
  }

  void Whisker(double from, double to) {
    const std::string y = Number(height_ / 2);
    out_.Void("line", {{"class", "whisker"},
                       {"x1", PercentOf(from)},
                       {"x2", PercentOf(to)},
                       {"y1", y},
                       {"y2", y}});
    for (const double end : {from, to})
      out_.Void("line", {{"class", "whisker"},
                         {"x1", PercentOf(end)},
                         {"x2", PercentOf(end)},
                         {"y1", Number(height_ / 2 - 4)},
                         {"y2", Number(height_ / 2 + 4)}});
  }

 private:
  Markup& out_;
  double height_;
  Markup::Element figure_;
};

}  // namespace

void WriteMeter(Markup& out, double share) {
  const auto svg = out.Open(
      "svg", {{"class", "meter"}, {"aria-hidden", "true"}, {"width", "48"}, {"height", "8"}});
  out.Void("rect", {{"class", "track"}, {"width", "100%"}, {"height", "8"}});
  out.Void(
      "rect",
      {{"class", "filled"}, {"width", PercentOf(std::clamp(share, 0.0, 1.0))}, {"height", "8"}});
}

void WriteBars(Markup& out, const ChartText& text, std::span<const Bar> bars) {
  double longest = 0;
  for (const Bar& bar : bars) {
    double sum = bar.from;
    for (const BarPart& part : bar.parts) sum += part.amount;
    longest = std::max(longest, sum);
  }
  if (!(longest > 0)) return;
  Rows rows(out, text, bars.size());
  for (const Bar& bar : bars) {
    std::string description;
    for (const BarPart& part : bar.parts)
      description += (description.empty() ? "" : ", ") + part.text + " " + part.shown;
    rows.Row(bar.label, bar.total, description, [&] {
      double from = bar.from / longest;
      for (const BarPart& part : bar.parts) {
        const double to = from + part.amount / longest;
        rows.Part(part.mark, from, to, part.text + ": " + part.shown);
        from = to;
      }
    });
  }
}

void WriteIntervalBars(Markup& out, const ChartText& text, std::span<const IntervalBar> bars) {
  double longest = 0;
  for (const IntervalBar& bar : bars) longest = std::max({longest, bar.amount, bar.high});
  if (!(longest > 0)) return;
  Rows rows(out, text, bars.size());
  for (const IntervalBar& bar : bars) {
    rows.Row(bar.label, bar.shown, bar.shown, [&] {
      rows.Part(bar.mark, 0, std::max(0.0, bar.amount) / longest, bar.label + ": " + bar.shown);
      if (bar.high > bar.low)
        rows.Whisker(std::max(0.0, bar.low) / longest, std::max(0.0, bar.high) / longest);
    });
  }
}

}  // namespace traceinject
