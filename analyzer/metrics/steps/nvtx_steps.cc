// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/nvtx_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/common/digit.h"

namespace traceinject {
namespace {

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

// What of a name is the same in all steps; empty: it names none.
class StepNames {
 public:
  StepNames(const Rank& rank, const StepPattern* pattern) : rank_(rank), pattern_(pattern) {
    if (pattern != nullptr) matches_.resize(rank.strings.size());
  }
  std::string_view PrefixOf(std::uint32_t text) {
    if (pattern_ == nullptr) return StepPrefix(rank_.string(text));
    if (text == kNone) return {};
    // Each name is matched once.
    std::optional<bool>& known = matches_[text];
    if (!known) known = pattern_->Matches(rank_.string(text));
    return *known ? std::string_view(pattern_->text()) : std::string_view();
  }

 private:
  const Rank& rank_;
  const StepPattern* pattern_;
  std::vector<std::optional<bool>> matches_;
};

void KeepOutermost(std::vector<Interval>& ranges) {
  std::stable_sort(ranges.begin(), ranges.end(), [](const Interval& a, const Interval& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  TimeNs end = std::numeric_limits<TimeNs>::min();
  std::erase_if(ranges, [&](const Interval& range) {
    if (range.start < end) return true;
    end = range.end;
    return false;
  });
}

// ProfilerStep first, then what covers more time.
bool Better(const std::pair<std::string_view, Found>& a,
            const std::pair<std::string_view, Found>& b) {
  const bool a_profiler = a.first == kProfilerStep, b_profiler = b.first == kProfilerStep;
  if (a_profiler != b_profiler) return a_profiler;
  return a.second.covered_ns > b.second.covered_ns;
}

// TensorFlow and JAX put the number among what else they say of a step: "train#_r=1,step_num=12#".
constexpr std::string_view kTraceMeStep = "step_num=";

std::string_view TraceMePrefix(std::string_view text) {
  const std::size_t key = text.find(kTraceMeStep);
  if (key == std::string_view::npos || key == 0) return {};
  const char before = text[key - 1];
  const std::size_t number = key + kTraceMeStep.size();
  const bool is_step = (before == '#' || before == ',') && number < text.size() &&
                       IsDigit(text[number]) && text.ends_with('#');
  return is_step ? text.substr(0, number) : std::string_view();
}

}  // namespace

std::string_view StepPrefix(std::string_view text) {
  if (const std::string_view prefix = TraceMePrefix(text); !prefix.empty()) return prefix;
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

Result<StepPattern> StepPattern::Parse(const std::string& text) {
  StepPattern pattern;
  pattern.text_ = text;
  if (text.empty()) return Error{"an empty expression matches every name"};
  try {
    pattern.regex_.assign(text, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    return Error{fmt::format("'{}' is not a regular expression: {}", text, error.what())};
  }
  return pattern;
}

bool StepPattern::Matches(std::string_view name) const {
  constexpr std::size_t kLongestName = 512;
  if (name.size() > kLongestName) return false;
  try {
    return std::regex_search(name.begin(), name.end(), regex_);
  } catch (const std::regex_error&) {  // too complex for this name
    return false;
  }
}

std::optional<StepRanges> FindStepRanges(const Rank& rank, Interval gpu_span,
                                         const StepPattern* pattern) {
  StepNames names(rank, pattern);
  std::map<std::pair<std::string_view, std::uint32_t>, Found> by_prefix_and_thread;
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
    if (rank.nvtx.kind[row] == NvtxKind::kMark) continue;
    const std::string_view prefix = names.PrefixOf(rank.nvtx.text[row]);
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
  if (pattern == nullptr)
    return StepRanges{std::string(chosen.first) + "N", std::move(chosen.second.ranges)};
  KeepOutermost(chosen.second.ranges);
  return StepRanges{pattern->text(), std::move(chosen.second.ranges)};
}

std::optional<StepCount> CountSteps(const Rank& rank, Interval gpu_span, Interval window,
                                    const StepPattern* pattern) {
  const std::optional<StepRanges> found = FindStepRanges(rank, gpu_span, pattern);
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
