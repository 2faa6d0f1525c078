// SPDX-License-Identifier: Apache-2.0
// Lists of processors as Linux writes them: "0-31,64".
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace traceinject {

// Ranges, both ends included, as they stand there. Empty: the text is no such list.
std::optional<std::vector<std::pair<int, int>>> ParseCpuList(std::string_view text);

// O(ranges x ranges).
bool Overlap(const std::vector<std::pair<int, int>>& a, const std::vector<std::pair<int, int>>& b);

}  // namespace traceinject
