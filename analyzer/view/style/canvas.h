// SPDX-License-Identifier: Apache-2.0
// What the timeline is drawn on: the window's draw list, or a record in a test.
//
// Pixels, y downwards, rectangles half-open. Calls paint over what was painted before.
#pragma once

#include <string_view>

#include "analyzer/view/style/palette.h"

namespace traceinject {

struct Box {
  float left = 0, top = 0, right = 0, bottom = 0;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
};

class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void Fill(const Box& box, Rgba color) = 0;
  // A frame inside the box.
  virtual void Outline(const Box& box, Rgba color, float width_px) = 0;
  // Starts at (x, y), its top left, and is cut off outside of `clip`.
  virtual void Text(float x, float y, Rgba color, std::string_view text, const Box& clip) = 0;
  virtual float TextWidth(std::string_view text) const = 0;
  virtual float TextHeight() const = 0;
  // Everything until Unclip is cut off outside of the box. Does not nest.
  virtual void Clip(const Box& box) = 0;
  virtual void Unclip() = 0;
};

}  // namespace traceinject
