// SPDX-License-Identifier: Apache-2.0
// What the colors on the screen mean, in as much room as there is. An entry is where it is as long
// as the run and the look are the same: what is not in view is dimmed, and nothing moves.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyzer/model/ink.h"
#include "analyzer/view/style/theme.h"

namespace traceinject {

// What a legend has to explain: the colors that were used.
struct Painted {
  InkSet inks;                                    // events by what they are
  std::array<bool, kCategories> categories = {};  // of whole GPUs
  bool by_hue = false;                            // operations by name or by stream
  bool waits = false;                             // of collectives, for other ranks

  bool Overlaps(const Painted& other) const;
  void Add(const Painted& other);
};

struct LegendEntry {
  std::string text;
  Rgba color = 0;   // 0: a remark without a patch of color
  Painted meaning;  // what has the color
};

// Of all that can be painted, in a fixed order: the GPU's row, waits in collectives, causes of idle
// time and pauses, kernels, calls.
std::vector<LegendEntry> LegendOf(const Painted& paintable, const Look& look);

// Where an entry stands.
struct LegendPlace {
  float x = 0;
  int line = 0;
};

// Places for as many entries as fit into the lines, in their order; where not all do, the last line
// keeps `more_px` free for their number. O(entries).
std::vector<LegendPlace> PlaceLegend(const std::vector<float>& widths_px, float room_px, int lines,
                                     float more_px);

}  // namespace traceinject
