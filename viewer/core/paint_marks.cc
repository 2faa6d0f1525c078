// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint_marks.h"

#include <algorithm>
#include <cmath>

namespace traceinject {
namespace {

constexpr unsigned kBandAlpha = 0x28, kLineAlpha = 0xb0;
constexpr float kTextPadPx = 4;

}  // namespace

void PaintMarks(const Workspace& workspace, Canvas& canvas) {
  const std::vector<Mark>& marks = workspace.annotations().marks();
  const Timeline& timeline = workspace.timeline();
  const Box plot = timeline.Plot();
  if (marks.empty()) return;
  canvas.Clip({plot.left, 0, plot.right, plot.bottom});
  for (std::size_t index = 0; index < marks.size(); ++index) {
    const Mark& mark = marks[index];
    const Box flag = workspace.MarkFlag(mark);
    const float end = std::floor(plot.left + timeline.view().X(mark.end));
    if (std::max(flag.right, end) < plot.left || flag.left >= plot.right) continue;
    if (mark.end > mark.start) {
      canvas.Fill({flag.left, plot.top, std::max(end, flag.left + 1), plot.bottom},
                  WithAlpha(mark.colour, kBandAlpha));
      canvas.Fill({end - 1, plot.top, end, plot.bottom}, WithAlpha(mark.colour, kLineAlpha));
      canvas.Fill({flag.left, flag.bottom, std::max(end, flag.left + 1), plot.top}, mark.colour);
    }
    canvas.Fill({flag.left, flag.bottom, flag.left + 1, plot.bottom},
                WithAlpha(mark.colour, kLineAlpha));
    canvas.Fill(flag, mark.colour);
    const Rgba text = TextColourOn(mark.colour);
    if (workspace.selected_mark() == index) canvas.Outline(flag, text);
    const float y = flag.top + std::floor((flag.height() - canvas.TextHeight()) / 2);
    canvas.Text(flag.left + kTextPadPx, y, text, mark.text,
                {flag.left + kTextPadPx, flag.top, flag.right - 1, flag.bottom});
  }
  canvas.Unclip();
}

}  // namespace traceinject
