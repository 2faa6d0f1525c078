// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/nvtx_steps.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace traceinject {
namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool IsLetter(char c) { return Lower(c) >= 'a' && Lower(c) <= 'z'; }

// Whether the text ends in `word`, whatever its case, and the letter before it belongs to another
// word.
bool EndsInWord(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  const std::string_view tail = text.substr(text.size() - word.size());
  if (!std::equal(tail.begin(), tail.end(), word.begin(),
                  [](char a, char b) { return Lower(a) == b; }))
    return false;
  return text.size() == word.size() || !IsLetter(text[text.size() - word.size() - 1]);
}

struct Found {
  std::int64_t ranges = 0;
  std::int64_t inside = 0;  // of those, in the window
  TimeNs covered_ns = 0;
  Interval host{std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()};
};

// ProfilerStep first, then what covers more time.
bool Better(const std::pair<std::string_view, Found>& a,
            const std::pair<std::string_view, Found>& b) {
  const bool a_profiler = a.first == kProfilerStep, b_profiler = b.first == kProfilerStep;
  if (a_profiler != b_profiler) return a_profiler;
  return a.second.covered_ns > b.second.covered_ns;
}

}  // namespace

std::string_view StepPrefix(std::string_view text) {
  std::size_t number = text.size();
  while (number > 0 && IsDigit(text[number - 1])) --number;
  if (number == text.size()) return {};
  const std::string_view prefix = text.substr(0, number);
  if (prefix == kProfilerStep) return prefix;
  const std::size_t last = prefix.find_last_not_of(" _#:");
  if (last == std::string_view::npos) return {};
  const std::string_view words = prefix.substr(0, last + 1);
  for (const std::string_view word : {"step", "iteration", "iter"}) {
    if (EndsInWord(words, word)) return prefix;
  }
  return {};
}

std::optional<StepCount> CountSteps(const Rank& rank, Interval gpu_span, Interval window) {
  std::map<std::pair<std::string_view, std::uint32_t>, Found> by_prefix_and_thread;
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
    if (rank.nvtx.kind[row] == NvtxKind::kMark) continue;
    const std::string_view prefix = StepPrefix(rank.string(rank.nvtx.text[row]));
    if (prefix.empty()) continue;
    const TimeNs start = std::max(rank.nvtx.start[row], gpu_span.start);
    const TimeNs end = std::min(rank.nvtx.end[row], gpu_span.end);
    if (end <= start) continue;
    const TimeNs middle = start + (end - start) / 2;
    Found& found = by_prefix_and_thread[{prefix, rank.nvtx.thread[row]}];
    ++found.ranges;
    found.covered_ns += end - start;
    if (middle < window.start || middle >= window.end) continue;
    ++found.inside;
    found.host.start = std::min(found.host.start, rank.nvtx.start[row]);
    found.host.end = std::max(found.host.end, end);
  }
  std::map<std::string_view, Found> by_prefix;
  for (const auto& [key, found] : by_prefix_and_thread) {
    Found& best = by_prefix[key.first];
    if (found.ranges > best.ranges) best = found;
  }
  if (by_prefix.empty()) return std::nullopt;
  std::vector<std::pair<std::string_view, Found>> kinds(by_prefix.begin(), by_prefix.end());
  const auto& chosen = *std::min_element(kinds.begin(), kinds.end(), Better);
  return StepCount{chosen.second.inside, std::string(chosen.first) + "N", chosen.second.host};
}

}  // namespace traceinject
