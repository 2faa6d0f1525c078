// SPDX-License-Identifier: Apache-2.0
// How long and how wide things are on the screen, text aside: the one table of it. Everything grows
// with the font, so that a screen of twice the density shows the same, twice as fine.
//
// Pixels are those of the screen. What is narrower than one of them, a short event, still gets one:
// the finest that the screen can show, at every scale.
#pragma once

#include <algorithm>
#include <cmath>

namespace traceinject {

struct Sizes {
  // The height of the font at scale 1.
  static constexpr float kFontPx = 14;

  explicit Sizes(float font_px = kFontPx) : font(font_px), scale(font_px / kFontPx) {}

  // What is so long at scale 1: whole pixels, at least one.
  float Px(float at_scale_1) const { return std::max(std::round(at_scale_1 * scale), 1.0F); }

  float font;
  float scale;
  float line =
      std::max(std::floor(scale), 1.0F);  // frames, dividers, what stays free between boxes
  float text_pad = Px(4);

  // Of the timeline.
  float label = std::floor(22 * font);  // width of the column of labels
  float ruler = Px(24);
  float lane = std::floor(font) + Px(5);        // of events with text
  float frame_lane = std::floor(font) + Px(3);  // likewise, where many stand below each other
  float row_pad = Px(2);                        // above and below the lanes of a row
  float least_summary_lane = Px(6);
  float indent = Px(12);   // of the rows in a group; also the room for its triangle
  float triangle = Px(4);  // half of a side
  float tick_apart = Px(130);
  float tick = Px(6);

  // Of events.
  float labelled = Px(30);     // narrower boxes stay without text
  float separated = Px(4);     // wider boxes leave a line free to the next one
  float least_height = Px(2);  // so that a column that is hardly busy is seen
  float least_frame = Px(3);   // of the frame around an event of no width
  float arrow_head = Px(5);
  float arrow_stub = Px(10);                       // of the piece before the head
  float least_flag = Px(12), most_flag = Px(180);  // of a mark

  // Of the pointer: how near to something is on it.
  float click_slack = Px(4);  // it may move so far in a click
  float hit_slack = Px(3);
  float snap = Px(6);
  float grab = Px(4);  // on either side of an edge

  // Of the strip with the whole run.
  float least_overview_line = Px(4);
  float least_overview_box = Px(3);  // one that is narrower could not be seen
  float overview_marks = Px(4);      // height of the line of marks

  // Of the panels.
  float splitter = Px(6);
  float patch_gap = Px(5);  // between a color of the legend and what it means
  float screen_margin = Px(12);
  float box_pad_x = Px(20), box_pad_y = Px(16);
  float menu_pad_x = Px(10), menu_pad_y = Px(8);
  float least_bar = Px(2);
  float least_histogram = Px(50);
};

}  // namespace traceinject
