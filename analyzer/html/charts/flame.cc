// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/flame.h"

#include <fmt/format.h>

#include <algorithm>

namespace traceinject {
namespace {

constexpr double kPitch = 25, kBox = 24, kBaseline = 13;
// Of the parts along the lower edge: idle ones stand higher, as colors alone are easily mistaken.
constexpr double kStrip = 7, kBusyStrip = 3;
// Narrower ones have no room for a name, unless the script gives them some.
constexpr double kLeastNamed = 0.03;
// Of a box: smaller parts cannot be seen.
constexpr double kLeastPart = 0.004;

class FlameWriter {
 public:
  FlameWriter(Markup& out, double whole) : out_(out), whole_(whole) {}

  void Box(const FlameBox& box) {
    ends_.resize(box.depth + 1);
    const double from = ends_[box.depth], share = box.amount / whole_;
    ends_[box.depth] = from + share;
    ends_.push_back(from);  // where the first one below it begins
    const auto svg = out_.Open("svg", {{"class", box.own ? "frame own" : "frame"},
                                       {"x", PercentOf(from)},
                                       {"y", Number(kPitch * static_cast<double>(box.depth))},
                                       {"width", PercentOf(share)},
                                       {"height", Number(kBox)},
                                       {"role", "treeitem"},
                                       {"tabindex", box.depth == 0 ? "0" : "-1"},
                                       {"aria-level", fmt::format("{}", box.depth + 1)},
                                       {"data-tip", box.tip}});
    out_.Void("rect", {{"class", "box"}, {"width", "100%"}, {"height", Number(kBox)}});
    Parts(box);
    out_.Leaf(
        "text", box.name,
        {{"x", "4"}, {"y", Number(kBaseline)}, {"class", share < kLeastNamed ? "off" : "on"}});
  }

 private:
  void Parts(const FlameBox& box) {
    double from = 0;
    for (const BarPart& part : box.parts) {
      const double share = part.amount / box.amount;
      const double height = part.mark.starts_with("idle") ? kStrip : kBusyStrip;
      if (share >= kLeastPart)
        out_.Void("rect", {{"class", "part " + part.mark},
                           {"x", PercentOf(from)},
                           {"width", PercentOf(share)},
                           {"y", Number(kBox - height)},
                           {"height", Number(height)}});
      from += share;
    }
  }

  Markup& out_;
  double whole_;
  std::vector<double> ends_;  // by depth, where the next one begins
};

}  // namespace

void WriteFlame(Markup& out, const FlameText& text, std::span<const FlameBox> boxes) {
  if (boxes.empty() || !(boxes.front().amount > 0)) return;
  std::size_t depth = 0;
  for (const FlameBox& box : boxes) depth = std::max(depth, box.depth);
  const std::string id = out.NewId();
  const auto figure = out.Open("figure", {{"class", "flame"}, {"data-name", text.name}});
  {
    const auto caption = out.Open("figcaption");
    out.Leaf("b", text.title, {{"id", id}});
    WriteLegend(out, text.legend);
  }
  const auto svg = out.Open("svg", {{"class", "flames"},
                                    {"role", "tree"},
                                    {"width", "100%"},
                                    {"height", Number(kPitch * static_cast<double>(depth + 1))},
                                    {"aria-labelledby", id},
                                    {"data-ns", Number(text.root_ns)},
                                    {"data-per", text.per}});
  FlameWriter writer(out, boxes.front().amount);
  for (const FlameBox& box : boxes) writer.Box(box);
}

void WriteFlameControls(Markup& out, std::size_t flames) {
  const auto controls = out.Open("div", {{"class", "flame-controls"}, {"hidden", "hidden"}});
  if (flames > 1) {
    const auto label = out.Open("label");
    out.Text("Thread ");
    out.Leaf("select", "", {{"class", "flame-thread"}});
  }
  {
    const auto label = out.Open("label");
    out.Text("Search ");
    out.Void("input", {{"class", "flame-search"},
                       {"type", "search"},
                       {"placeholder", "function or file"},
                       {"spellcheck", "false"},
                       {"autocomplete", "off"}});
  }
  out.Leaf("button", "Zoom out",
           {{"class", "flame-out"}, {"type", "button"}, {"disabled", "disabled"}});
  out.Leaf("output", "", {{"class", "flame-found"}, {"aria-live", "polite"}});
}

}  // namespace traceinject
