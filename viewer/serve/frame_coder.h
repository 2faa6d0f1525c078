// SPDX-License-Identifier: Apache-2.0
// A frame as bytes, from the frame before it. Of each list the vertices and indices that are the
// same at its beginning and its end stay; the others come in columns, as differences from the one
// before: rectangles and letters repeat, and deflate finds that.
//
//   frame    width height cursor wants_text lists, then of each list:
//   list     vertices indices commands
//   vertices kept_first kept_last new, then of the new ones x..., y..., texel..., color...
//   indices  kept_first kept_last new, then of the new ones index...
//   commands number, then of each left top right bottom indices
//
// All are numbers of 7 bits a byte, the lowest first, with 128 added where more follow; x, y,
// texel, index and the box may be negative: 0, -1, 1, -2 as 0, 1, 2, 3. Of a texel the two halves
// are columns of their own; colors differ by exclusive or.
#pragma once

#include <string>

#include "viewer/serve/drawn_frame.h"

namespace traceinject {

void AddNumber(std::uint32_t number, std::string& bytes);

// `before`: what the reader has; an empty frame at first.
std::string CodeFrame(const DrawnFrame& before, const DrawnFrame& now);

}  // namespace traceinject
