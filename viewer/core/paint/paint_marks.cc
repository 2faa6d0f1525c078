// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/paint_marks.h"

#include <algorithm>
#include <cmath>

#include "analyzer/view/style/fit_text.h"

namespace traceinject {
namespace {

constexpr unsigned kBandAlpha = 0x28, kLineAlpha = 0xb0;

}  // namespace

void PaintMarks(const Workspace& workspace, Canvas& canvas) {
  const std::vector<Mark>& marks = workspace.annotations().marks();
  const Timeline& timeline = workspace.timeline();
  const Box plot = timeline.Plot();
  const float line = timeline.sizes().line, text_pad = timeline.sizes().text_pad;
  if (marks.empty()) return;
  const Theme& theme = ThemeOf(timeline.look().theme);
  canvas.Clip({plot.left, 0, plot.right, plot.bottom});
  for (std::size_t index = 0; index < marks.size(); ++index) {
    const Mark& mark = marks[index];
    const Box flag = workspace.MarkFlag(mark);
    const float end = std::floor(plot.left + timeline.view().X(mark.end));
    if (std::max(flag.right, end) < plot.left || flag.left >= plot.right) continue;
    const Rgba color = StandingOut(mark.color, theme.ruler);
    if (mark.end > mark.start) {
      canvas.Fill({flag.left, plot.top, std::max(end, flag.left + line), plot.bottom},
                  WithAlpha(color, kBandAlpha));
      canvas.Fill({end - line, plot.top, end, plot.bottom}, WithAlpha(color, kLineAlpha));
      canvas.Fill({flag.left, flag.bottom, std::max(end, flag.left + line), plot.top}, color);
    }
    canvas.Fill({flag.left, flag.bottom, flag.left + line, plot.bottom},
                WithAlpha(color, kLineAlpha));
    canvas.Fill(flag, color);
    const Rgba text = TextColorOn(color);
    if (workspace.selected_mark() == index) canvas.Outline(flag, text, line);
    const float y = flag.top + std::floor((flag.height() - canvas.TextHeight()) / 2);
    const Box room{flag.left + text_pad, flag.top, flag.right - line, flag.bottom};
    canvas.Text(room.left, y, text, FitTextWithDots(canvas, mark.text, room.width()), room);
  }
  canvas.Unclip();
}

}  // namespace traceinject
