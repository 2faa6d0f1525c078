// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/text.h"

#include <algorithm>

namespace traceinject {
namespace {

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

bool MatchesGlob(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0;
  // Where to go on when a letter does not match: behind the last star, one letter of text further.
  std::size_t star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::size_t EditDistance(std::string_view a, std::string_view b) {
  // Optimal string alignment: rows i-2, i-1 and i of the table.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::optional<std::string_view> NearestWord(std::string_view word,
                                            std::span<const std::string_view> candidates) {
  std::optional<std::string_view> nearest;
  std::size_t best = 0;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    const std::size_t limit = std::max<std::size_t>(1, std::max(word.size(), candidate.size()) / 3);
    if (distance > limit || (nearest && distance >= best)) continue;
    nearest = candidate;
    best = distance;
  }
  return nearest;
}

std::string ShortenMiddle(std::string_view text, std::size_t width) {
  if (text.size() <= width) return std::string(text);
  const std::size_t keep = width - 3;
  std::size_t head = keep - keep / 2;
  std::size_t tail = text.size() - keep / 2;
  while (head > 0 && IsContinuation(text[head])) --head;
  while (tail < text.size() && IsContinuation(text[tail])) ++tail;
  return std::string(text.substr(0, head)) + "..." + std::string(text.substr(tail));
}

std::string JoinFirst(const std::vector<std::string>& words, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, words.size()); ++i)
    text += (i > 0 ? ", " : "") + words[i];
  if (words.size() > most) text += ", and " + std::to_string(words.size() - most) + " more";
  return text;
}

std::string NumberRanges(const std::vector<int>& numbers, std::size_t most) {
  std::string text;
  std::size_t pieces = 0;
  for (std::size_t first = 0; first < numbers.size();) {
    if (pieces++ == most) return text + ", and " + std::to_string(numbers.size() - first) + " more";
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (first > 0 ? ", " : "") + std::to_string(numbers[first]);
    if (last > first) text += "-" + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

std::string WithDetail(std::string_view text, std::string_view detail) {
  std::string both(text);
  if (!detail.empty()) both.append(" (").append(detail).append(")");
  return both;
}

std::string FormatTable(const TableText& table, std::string_view indent) {
  std::vector<std::size_t> widths;
  for (const auto& row : table.rows) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (const auto& row : table.rows) {
    std::string line(indent);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - row[c].size(), ' ');
      const bool right = c < table.align_right.size() && table.align_right[c];
      if (c > 0) line += "  ";
      line += right ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace traceinject
