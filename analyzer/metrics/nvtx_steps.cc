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
  std::vector<Interval> ranges;
  TimeNs covered_ns = 0;  // inside the GPU's span
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

std::optional<StepRanges> FindStepRanges(const Rank& rank, Interval gpu_span) {
  std::map<std::pair<std::string_view, std::uint32_t>, Found> by_prefix_and_thread;
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
    if (rank.nvtx.kind[row] == NvtxKind::kMark) continue;
    const std::string_view prefix = StepPrefix(rank.string(rank.nvtx.text[row]));
    if (prefix.empty()) continue;
    const TimeNs start = std::max(rank.nvtx.start[row], gpu_span.start);
    const TimeNs end = std::min(rank.nvtx.end[row], gpu_span.end);
    if (end <= start) continue;
    Found& found = by_prefix_and_thread[{prefix, rank.nvtx.thread[row]}];
    const TimeNs open_end = std::max(gpu_span.end, rank.nvtx.start[row]);
    found.ranges.push_back(
        {rank.nvtx.start[row], rank.nvtx.end[row] == kOpen ? open_end : rank.nvtx.end[row]});
    found.covered_ns += end - start;
  }
  std::map<std::string_view, Found> by_prefix;
  for (auto& [key, found] : by_prefix_and_thread) {
    Found& best = by_prefix[key.first];
    if (found.ranges.size() > best.ranges.size()) best = std::move(found);
  }
  if (by_prefix.empty()) return std::nullopt;
  std::vector<std::pair<std::string_view, Found>> kinds(by_prefix.begin(), by_prefix.end());
  auto& chosen = *std::min_element(kinds.begin(), kinds.end(), Better);
  return StepRanges{std::string(chosen.first) + "N", std::move(chosen.second.ranges)};
}

std::optional<StepCount> CountSteps(const Rank& rank, Interval gpu_span, Interval window) {
  const std::optional<StepRanges> found = FindStepRanges(rank, gpu_span);
  if (!found) return std::nullopt;
  StepCount count{
      0, found->pattern, {std::numeric_limits<TimeNs>::max(), std::numeric_limits<TimeNs>::min()}};
  for (const Interval& range : found->ranges) {
    const TimeNs start = std::max(range.start, gpu_span.start);
    const TimeNs end = std::min(range.end, gpu_span.end);
    const TimeNs middle = start + (end - start) / 2;
    if (middle < window.start || middle >= window.end) continue;
    ++count.steps;
    count.host.start = std::min(count.host.start, range.start);
    count.host.end = std::max(count.host.end, end);
  }
  return count;
}

}  // namespace traceinject
