// SPDX-License-Identifier: Apache-2.0
// Where values lie along an axis, and which of them are written beside it.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;  // low > 0

  // 0 at low, 1 at high; what lies beyond is put on the end.
  double Place(double value) const;
};

// From 0 to a round number at or above `highest`.
Scale FromZero(double highest);
// From one power of ten to another one around these positive values.
Scale PowersOfTen(double lowest, double highest);

struct Tick {
  double place = 0;
  std::string text;
};

// Round numbers along the axis, at most `most` (>= 2), each as `text` writes it.
std::vector<Tick> TicksOf(const Scale& scale, int most, std::string (*text)(double));

// For TicksOf: without the digits that a round number does not need.
std::string TimeTick(double ns);
std::string BytesTick(double bytes);
std::string PlainTick(double value);

}  // namespace traceinject
