// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/cpu_list.h"

#include <algorithm>
#include <charconv>

namespace traceinject {
namespace {

std::optional<int> Number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::vector<std::pair<int, int>>> ParseCpuList(std::string_view text) {
  std::vector<std::pair<int, int>> ranges;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find(','));
    const std::size_t dash = piece.find('-');
    const std::optional<int> first = Number(piece.substr(0, dash));
    const std::optional<int> last =
        dash == std::string_view::npos ? first : Number(piece.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    ranges.emplace_back(*first, *last);
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
  }
  return ranges;
}

bool Overlap(const std::vector<std::pair<int, int>>& a, const std::vector<std::pair<int, int>>& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) {
      return one.first <= other.second && other.first <= one.second;
    });
  });
}

}  // namespace traceinject
