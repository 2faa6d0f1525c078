// SPDX-License-Identifier: Apache-2.0
// A flame graph that hangs from its root: frames below their callers, as wide as their share.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/html/charts/bars.h"
#include "analyzer/html/page/markup.h"

namespace traceinject {

struct FlameBox {
  std::size_t depth = 0;            // 0: the root, of which there is one, first
  double amount = 0;                // no more than its caller's with those beside it
  bool own = false;                 // set apart
  std::string name, tip;            // `tip` has all that is to be known
  std::vector<BarPart> parts = {};  // of the amount; `shown` is not used
};

struct FlameText {
  std::string title;
  std::vector<ChartKey> legend;
  std::string name;    // among several: what a list calls it
  double root_ns = 0;  // what the root stands for; 0: not known
  std::string per;     // " per step"
};

// Each box before those below it. The script zooms, searches, and moves the focus.
void WriteFlame(Markup& out, const FlameText& text, std::span<const FlameBox> boxes);

// What the script fills: which of several, a search, the way back. Unseen without it.
void WriteFlameControls(Markup& out, std::size_t flames);

}  // namespace traceinject
