// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/paint_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr unsigned kArrowAlpha = 0xd0;  // what it crosses can still be seen

struct Point {
  float x = 0, y = 0;
};

class LinkPainter {
 public:
  LinkPainter(const Timeline& timeline, Canvas& canvas)
      : timeline_(timeline),
        canvas_(canvas),
        plot_(timeline.Plot()),
        theme_(ThemeOf(timeline.look().theme)),
        sizes_(timeline.sizes()) {}

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
    const float line = sizes_.line;
    const float right = std::max(box.right, box.left + sizes_.least_frame);
    canvas_.Outline({box.left - line, box.top - line, right + line, box.bottom + line},
                    theme_.arrow, line);
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
    if (std::abs(end.x - trunk) >= sizes_.arrow_stub) {
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
    const float line = sizes_.line;
    canvas_.Fill({std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x) + line,
                  std::max(a.y, b.y) + line},
                 WithAlpha(theme_.arrow, kArrowAlpha));
  }

  // Triangles, out of one box for each pixel of their length.
  void HeadRight(Point tip) {
    for (float i = 0; i < sizes_.arrow_head; ++i) {
      canvas_.Fill({tip.x - i - 1, tip.y - i, tip.x - i, tip.y + i + 1}, theme_.arrow);
    }
  }
  void HeadLeft(Point tip) {
    for (float i = 0; i < sizes_.arrow_head; ++i) {
      canvas_.Fill({tip.x + i, tip.y - i, tip.x + i + 1, tip.y + i + 1}, theme_.arrow);
    }
  }
  void HeadDown(Point tip) {
    for (float i = 0; i < sizes_.arrow_head; ++i) {
      canvas_.Fill({tip.x - i, tip.y - i, tip.x + i + 1, tip.y - i + 1}, theme_.arrow);
    }
  }
  void HeadUp(Point tip) {
    for (float i = 0; i < sizes_.arrow_head; ++i) {
      canvas_.Fill({tip.x - i, tip.y + i, tip.x + i + 1, tip.y + i + 1}, theme_.arrow);
    }
  }

  void PaintCount(const EventRef& selected, const LinkedEvents& links) {
    const std::size_t shown = links.effects.size();
    const std::string text =
        fmt::format("{} of {} launched operations have an arrow", shown,
                    FormatCount(static_cast<std::int64_t>(shown + links.effects_left_out)));
    const Box event = timeline_.EventBox(selected);
    const float width = canvas_.TextWidth(text) + 2 * sizes_.text_pad;
    const float height = canvas_.TextHeight() + 2 * sizes_.line;
    const float left =
        std::clamp(event.left, plot_.left, std::max(plot_.right - width, plot_.left));
    const float top = std::clamp(event.bottom + 2 * sizes_.line, plot_.top,
                                 std::max(plot_.bottom - height, plot_.top));
    const Box box{left, top, left + width, top + height};
    canvas_.Fill(box, theme_.popup);
    canvas_.Text(left + sizes_.text_pad, top + sizes_.line, theme_.arrow, text, box);
  }

  const Timeline& timeline_;
  Canvas& canvas_;
  Box plot_;
  const Theme& theme_;
  const Sizes& sizes_;
};

}  // namespace

void PaintLinks(const Timeline& timeline, Canvas& canvas) { LinkPainter(timeline, canvas).Paint(); }

}  // namespace traceinject
