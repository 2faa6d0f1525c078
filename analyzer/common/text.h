// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// Whether `text` as a whole matches `pattern`, in which * stands for any characters and ? for one.
// O(text x pattern) worst case.
bool MatchesGlob(std::string_view text, std::string_view pattern);

// Letters to insert, delete, replace or swap with the neighbor to turn a into b. O(a x b).
std::size_t EditDistance(std::string_view a, std::string_view b);

// The candidate that `word` most likely was meant to be; empty if none is near (more than a third
// of the letters differ).
std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> candidates);

// At most `width` bytes: the middle of a longer text gives way to "...". Never splits a UTF-8
// character. width >= 8.
std::string ShortenMiddle(std::string_view text, std::size_t width);

// "a, b, c, d, and 3 more".
std::string JoinFirst(const std::vector<std::string>& words, std::size_t most = 4);

// "3, 7-9, 12" of ascending numbers; after `most` such pieces "and 5 more".
std::string NumberRanges(const std::vector<int>& numbers, std::size_t most = 20);

// "GPU 0 (NVIDIA H200)"; without a detail the text alone.
std::string WithDetail(std::string_view text, std::string_view detail);

// Rows as columns padded with spaces, two between columns. Every row has as many cells as the
// first.
struct TableText {
  std::vector<bool> align_right;  // per column; missing: left
  std::vector<std::vector<std::string>> rows;
};
std::string FormatTable(const TableText& table, std::string_view indent = "");

}  // namespace traceinject
