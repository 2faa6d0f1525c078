// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/steps/step_numbers.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <unordered_map>

#include "analyzer/common/digit.h"
#include "analyzer/metrics/steps/steps.h"

namespace traceinject {
namespace {

// Of the ranges, so many have to agree: those at the ends may be cut.
constexpr double kAgreeing = 0.9;

// At the end of a name; empty: there is none.
std::optional<std::int64_t> NumberAtEnd(std::string_view name) {
  std::size_t first = name.size();
  while (first > 0 && IsDigit(name[first - 1])) --first;
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(name.data() + first, name.data() + name.size(), number);
  if (first == name.size() || code != std::errc()) return std::nullopt;
  return number;
}

// Numbers by name, each of which is looked at once.
class NumberedNames {
 public:
  NumberedNames(const Rank& rank, std::string prefix, const StepPattern* pattern)
      : rank_(rank), prefix_(std::move(prefix)), pattern_(pattern) {}

  std::optional<std::int64_t> Of(std::uint32_t text) {
    if (text == kNone) return std::nullopt;
    const auto [known, is_new] = numbers_.try_emplace(text);
    if (is_new && IsStep(rank_.string(text))) known->second = NumberAtEnd(rank_.string(text));
    return known->second;
  }

 private:
  bool IsStep(std::string_view name) const {
    return pattern_ != nullptr ? pattern_->Matches(name) : StepPrefix(name) == prefix_;
  }

  const Rank& rank_;
  const std::string prefix_;
  const StepPattern* const pattern_;
  std::unordered_map<std::uint32_t, std::optional<std::int64_t>> numbers_;
};

}  // namespace

std::optional<StepNumbers> NumbersOfSteps(const Rank& rank, Interval gpu_span,
                                          const std::vector<TimeNs>& cuts,
                                          const StepPattern* pattern) {
  const std::optional<StepRanges> steps = FindStepRanges(rank, gpu_span, pattern);
  if (!steps || cuts.size() < 2) return std::nullopt;
  // Without the N for the number.
  std::string name = steps->pattern;
  if (pattern == nullptr) name.pop_back();
  NumberedNames names(rank, name, pattern);
  std::map<std::int64_t, std::size_t> votes;
  std::size_t voted = 0;
  std::optional<std::int64_t> first;
  for (std::size_t row = 0; row < rank.nvtx.size(); ++row) {
    const TimeNs start = rank.nvtx.start[row], end = rank.nvtx.end[row];
    if (rank.nvtx.kind[row] == NvtxKind::kMark || end == kOpen) continue;
    const std::optional<std::int64_t> number = names.Of(rank.nvtx.text[row]);
    if (!number) continue;
    const auto after = std::upper_bound(cuts.begin(), cuts.end(), start + (end - start) / 2);
    if (after == cuts.begin() || after == cuts.end()) continue;
    ++votes[*number - (after - cuts.begin())];
    ++voted;
    first = std::min(first.value_or(*number), *number);
  }
  for (const auto& [shift, count] : votes) {
    if (count >= kMinSteps && static_cast<double>(count) >= kAgreeing * static_cast<double>(voted))
      return StepNumbers{shift, *first, std::move(name)};
  }
  return std::nullopt;
}

}  // namespace traceinject
