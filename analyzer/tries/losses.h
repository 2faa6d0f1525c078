// SPDX-License-Identifier: Apache-2.0
// Whether a changed program learns what it learned before: its losses against those of the program
// as it is, and these against each other, as a program without a fixed seed never repeats itself.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// "0x1.8p+1,nan,...": as system_fact of kind `try` has them. What is no number ends the list.
std::vector<double> ParseLosses(std::string_view text);

struct LossComparison {
  std::string outcome;  // equal, rounding, within noise, differ, unknown
  std::string text;     // that in words, with figures
};

// Losses of each run of the program as it is, and of each with the change. Of runs of unlike length
// the common beginning counts. O(runs x losses).
LossComparison CompareLosses(const std::vector<std::vector<double>>& as_is,
                             const std::vector<std::vector<double>>& changed);

}  // namespace traceinject
