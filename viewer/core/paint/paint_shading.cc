// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/paint_shading.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace traceinject {
namespace {

constexpr int kLevels = 8;  // columns of the same one are drawn as one box
constexpr unsigned kMaxAlpha = 0x60;

int LevelOf(TimeNs vanishing_ns, TimeNs length_ns) {
  if (vanishing_ns <= 0 || length_ns <= 0) return 0;
  const double share = static_cast<double>(vanishing_ns) / static_cast<double>(length_ns);
  return std::clamp(static_cast<int>(std::lround(share * kLevels)), 1, kLevels);
}

}  // namespace

void PaintShading(const Timeline& timeline, const Shading& shading, Canvas& canvas) {
  if (shading.times().empty()) return;
  const Box plot = timeline.Plot();
  const std::vector<Box> boxes = timeline.BoxesOf(shading.owner());
  const TimelineView& view = timeline.view();
  const int columns = static_cast<int>(plot.width());
  canvas.Clip(plot);
  int from = 0, level = 0;
  TimeNs start = view.TimeAt(0);
  TimeNs before = shading.Before(start);
  for (int column = 0; column <= columns; ++column) {
    int next = 0;
    if (column < columns) {
      const TimeNs end = view.TimeAt(static_cast<float>(column + 1));
      const TimeNs until = shading.Before(end);
      next = LevelOf(until - before, end - start);
      start = end;
      before = until;
    }
    if (next == level) continue;
    if (level > 0) {
      const auto alpha = kMaxAlpha * static_cast<unsigned>(level) / kLevels;
      for (const Box& box : boxes) {
        canvas.Fill({plot.left + static_cast<float>(from), box.top,
                     plot.left + static_cast<float>(column), box.bottom},
                    WithAlpha(kShadeColor, alpha));
      }
    }
    from = column;
    level = next;
  }
  canvas.Unclip();
}

}  // namespace traceinject
