// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr Rgba kPartner = 0xffe082ff;
constexpr Rgba kArrow = 0xffe082d0;
constexpr Rgba kBehindText = 0x1b1e23e0;
constexpr float kHeadPx = 5;   // length of an arrow's head
constexpr float kStubPx = 10;  // of the piece before the head
constexpr float kTextPadPx = 4;

struct Point {
  float x = 0, y = 0;
};

class LinkPainter {
 public:
  LinkPainter(const Timeline& timeline, Canvas& canvas)
      : timeline_(timeline), canvas_(canvas), plot_(timeline.Plot()) {}

  void Paint() {
    canvas_.Clip(plot_);
    const LinkedEvents& hovered = timeline_.hover_links();
    for (const auto* events : {&hovered.causes, &hovered.effects, &hovered.peers}) {
      for (const EventRef& event : *events) Frame(event);
    }
    if (timeline_.selection()) PaintArrows(*timeline_.selection(), timeline_.selection_links());
    canvas_.Unclip();
  }

 private:
  void Frame(const EventRef& event) {
    const Box box = timeline_.EventBox(event);
    canvas_.Outline(
        {box.left - 1, box.top - 1, std::max(box.right, box.left + 3) + 1, box.bottom + 1},
        kPartner);
  }

  void PaintArrows(const EventRef& selected, const LinkedEvents& links) {
    for (const EventRef& cause : links.causes) Arrow(cause, selected);
    for (const EventRef& effect : links.effects) Arrow(selected, effect);
    for (const EventRef& peer : links.peers) Arrow(selected, peer);
    for (const auto* events : {&links.causes, &links.effects, &links.peers}) {
      for (const EventRef& event : *events) Frame(event);
    }
    if (links.effects_left_out > 0) PaintCount(selected, links);
  }

  // From the middle of the start of one event to the start of the other: down or up, then across.
  void Arrow(const EventRef& from, const EventRef& to) {
    const Box source = timeline_.EventBox(from), target = timeline_.EventBox(to);
    const Point begin = Inside({source.left, (source.top + source.bottom) / 2});
    const Point end = Inside({target.left, (target.top + target.bottom) / 2});
    const bool beside = (source.left < plot_.left && target.left < plot_.left) ||
                        (source.left >= plot_.right && target.left >= plot_.right);
    const bool above = source.bottom < plot_.top && target.bottom < plot_.top;
    const bool below = source.top >= plot_.bottom && target.top >= plot_.bottom;
    if (beside || above || below) return;
    const float trunk = std::max(begin.x, plot_.left);
    Line({trunk, begin.y}, {trunk, end.y});
    if (std::abs(end.x - trunk) >= kStubPx) {
      Line({trunk, end.y}, {end.x, end.y});
      end.x > trunk ? HeadRight(end) : HeadLeft(end);
    } else {
      end.y > begin.y ? HeadDown({trunk, end.y}) : HeadUp({trunk, end.y});
    }
  }

  Point Inside(Point point) const {
    return {std::floor(std::clamp(point.x, plot_.left, plot_.right - 1)),
            std::floor(std::clamp(point.y, plot_.top, plot_.bottom - 1))};
  }

  // Along one axis.
  void Line(Point a, Point b) {
    canvas_.Fill(
        {std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x) + 1, std::max(a.y, b.y) + 1},
        kArrow);
  }

  // Triangles, out of one box for each pixel of their length.
  void HeadRight(Point tip) {
    for (float i = 0; i < kHeadPx; ++i) {
      canvas_.Fill({tip.x - i - 1, tip.y - i, tip.x - i, tip.y + i + 1}, kPartner);
    }
  }
  void HeadLeft(Point tip) {
    for (float i = 0; i < kHeadPx; ++i) {
      canvas_.Fill({tip.x + i, tip.y - i, tip.x + i + 1, tip.y + i + 1}, kPartner);
    }
  }
  void HeadDown(Point tip) {
    for (float i = 0; i < kHeadPx; ++i) {
      canvas_.Fill({tip.x - i, tip.y - i, tip.x + i + 1, tip.y - i + 1}, kPartner);
    }
  }
  void HeadUp(Point tip) {
    for (float i = 0; i < kHeadPx; ++i) {
      canvas_.Fill({tip.x - i, tip.y + i, tip.x + i + 1, tip.y + i + 1}, kPartner);
    }
  }

  void PaintCount(const EventRef& selected, const LinkedEvents& links) {
    const std::size_t shown = links.effects.size();
    const std::string text =
        fmt::format("{} of {} launched operations have an arrow", shown,
                    FormatCount(static_cast<std::int64_t>(shown + links.effects_left_out)));
    const Box event = timeline_.EventBox(selected);
    const float width = canvas_.TextWidth(text) + 2 * kTextPadPx;
    const float height = canvas_.TextHeight() + 2;
    const float left =
        std::clamp(event.left, plot_.left, std::max(plot_.right - width, plot_.left));
    const float top =
        std::clamp(event.bottom + 2, plot_.top, std::max(plot_.bottom - height, plot_.top));
    const Box box{left, top, left + width, top + height};
    canvas_.Fill(box, kBehindText);
    canvas_.Text(left + kTextPadPx, top + 1, kPartner, text, box);
  }

  const Timeline& timeline_;
  Canvas& canvas_;
  Box plot_;
};

}  // namespace

void PaintLinks(const Timeline& timeline, Canvas& canvas) { LinkPainter(timeline, canvas).Paint(); }

}  // namespace traceinject
