// SPDX-License-Identifier: Apache-2.0
// What to change for each label.
#pragma once

#include <string_view>
#include <vector>

namespace traceinject {

struct LeverRow {
  std::string_view label;
  std::string_view setting;
  std::string_view change;  // what to do, and why it helps
  std::string_view source;  // where that is written
};

// In the order to try them; empty for labels without any. O(rows).
std::vector<LeverRow> LeversOf(std::string_view label);

}  // namespace traceinject
