// SPDX-License-Identifier: Apache-2.0
// What all that paints a timeline draws from and onto.
#pragma once

#include <cmath>

#include "analyzer/view/style/canvas.h"
#include "analyzer/view/style/theme.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

class TimelinePainter {
 protected:
  TimelinePainter(const Timeline& timeline, Canvas& canvas)
      : timeline_(timeline),
        model_(timeline.model()),
        view_(timeline.view()),
        theme_(ThemeOf(timeline.look().theme)),
        sizes_(timeline.sizes()),
        canvas_(canvas),
        plot_(timeline.Plot()) {}
  ~TimelinePainter() = default;

  // Left edge of the pixel that a moment falls in.
  float X(TimeNs time) const { return plot_.left + std::floor(view_.X(time)); }

  const Timeline& timeline_;
  const RowModel& model_;
  const TimelineView& view_;
  const Theme& theme_;
  const Sizes& sizes_;
  Canvas& canvas_;
  const Box plot_;
};

}  // namespace traceinject
