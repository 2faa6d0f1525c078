// SPDX-License-Identifier: Apache-2.0
// Text from a recording, made safe and short enough to draw.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/view/style/canvas.h"

namespace traceinject {

// The longest start of the text that is no wider than the room and ends with a whole character, on
// one line: control characters and broken UTF-8 are replaced. One that had to be cut ends with
// "..."; empty where not even a character fits before that. Names are cut at 512 bytes before they
// are measured, so that a name of many kilobytes costs no more than that.
std::string FitTextWithDots(const Canvas& canvas, std::string_view text, float room_px);

// Whether it needs no cut.
bool FitsWhole(const Canvas& canvas, std::string_view text, float room_px);

// The longest end of the text; one that had to be cut begins with "...".
std::string FitEndWithDots(const Canvas& canvas, std::string_view text, float room_px);

}  // namespace traceinject
