// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/cost/ab_steps.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyzer/common/mean.h"

namespace traceinject {
namespace {

struct Block {
  bool recorded = false;
  std::vector<double> steps;  // lengths, ns
};

enum class Place { kRecorded, kUnrecorded, kEdge };

// Of steps in their order: of a long run there are as many gaps as there are steps.
class Places {
 public:
  explicit Places(const Rank& rank) : gaps_(rank.gaps) {}

  Place Of(Interval step) {
    while (next_ < gaps_.size() && (!gaps_[next_].planned() || gaps_[next_].end <= step.start))
      ++next_;
    if (next_ == gaps_.size() || gaps_[next_].start >= step.end) return Place::kRecorded;
    const bool within = gaps_[next_].start <= step.start && step.end <= gaps_[next_].end;
    return within ? Place::kUnrecorded : Place::kEdge;
  }

 private:
  const std::vector<CaptureGap>& gaps_;  // in order
  std::size_t next_ = 0;                 // the first that is planned and not over
};

// Of the optimizer that ended a step first, as the recorder counts them.
std::vector<Block> FindBlocks(const Rank& rank) {
  const StepMarks& marks = rank.step_marks;
  std::vector<Block> blocks;
  Places places(rank);
  std::optional<TimeNs> begin;
  Place last = Place::kEdge;
  for (std::size_t row = 0; row < marks.size(); ++row) {
    if (marks.optimizer[row] != marks.optimizer[0]) continue;
    if (begin) {
      const Interval step{*begin, marks.time[row]};
      const Place place = places.Of(step);
      if (place != Place::kEdge) {
        if (place != last) blocks.push_back({place == Place::kRecorded, {}});
        blocks.back().steps.push_back(static_cast<double>(step.end - step.start));
      }
      last = place;
    }
    begin = marks.time[row];
  }
  return blocks;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Those with steps enough, without their ends.
std::vector<Block> Trimmed(std::vector<Block> blocks) {
  std::erase_if(blocks, [](const Block& block) { return block.steps.size() < kMinBlockSteps + 2; });
  for (Block& block : blocks) {
    block.steps.erase(block.steps.begin());
    block.steps.pop_back();
  }
  return blocks;
}

// Blocks in which the program did something else, too: saved itself, say. Single steps are not left
// out: a program that waits for the GPU now and then has a long one among many short ones, and only
// their mean is what a step takes.
void ForgetUnusual(std::vector<Block>& blocks) {
  constexpr double kUnusual = 3;
  std::vector<double> means;
  for (const Block& block : blocks) {
    if (!block.steps.empty()) means.push_back(Mean(block.steps));
  }
  if (means.empty()) return;
  const double usual = Median(means);
  for (Block& block : blocks) {
    if (!block.steps.empty() && Mean(block.steps) > kUnusual * usual) block.steps.clear();
  }
}

}  // namespace

double StudentFactor(std::size_t freedom) {
  // The 97.5 % points (Abramowitz and Stegun, table 26.10).
  static constexpr double kPoints[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                                       2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                                       2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
  if (freedom <= std::size(kPoints)) return kPoints[freedom - 1];
  // Between the points for 20 and for infinity it falls as 1 / freedom.
  return 1.960 + (kPoints[std::size(kPoints) - 1] - 1.960) * std::size(kPoints) /
                     static_cast<double>(freedom);
}

std::optional<AbSteps> CompareSteps(const Rank& rank) {
  if (rank.step_marks.size() == 0) return std::nullopt;
  std::vector<Block> blocks = Trimmed(FindBlocks(rank));
  // The first steps of a run are no steps like others.
  if (!blocks.empty() && blocks.front().recorded) blocks.front().steps.clear();
  ForgetUnusual(blocks);
  std::vector<double> differences, recorded, unrecorded;
  AbSteps found;
  for (const Block& block : blocks) {
    if (block.steps.empty()) continue;
    (block.recorded ? recorded : unrecorded).push_back(Mean(block.steps));
    (block.recorded ? found.recorded_steps : found.unrecorded_steps) +=
        static_cast<std::int64_t>(block.steps.size());
  }
  // Each against both its neighbors, so that a drift cancels out.
  for (std::size_t i = 1; i + 1 < blocks.size(); ++i) {
    const Block &before = blocks[i - 1], &after = blocks[i + 1];
    if (blocks[i].recorded || !before.recorded || !after.recorded || blocks[i].steps.empty() ||
        before.steps.empty() || after.steps.empty())
      continue;
    differences.push_back((Mean(before.steps) + Mean(after.steps)) / 2 - Mean(blocks[i].steps));
  }
  if (differences.size() < kMinBlocks) return std::nullopt;
  const auto count = static_cast<double>(differences.size());
  found.blocks = static_cast<std::int64_t>(differences.size());
  found.recorded_ns = Mean(recorded);
  found.unrecorded_ns = Mean(unrecorded);
  found.added_ns = Mean(differences);
  double squares = 0;
  for (const double one : differences) squares += (one - found.added_ns) * (one - found.added_ns);
  // Neighboring differences share a recorded block: where blocks vary alike, their mean has 4/3 of
  // the variance that it would have if they did not.
  const double error = std::sqrt(squares / (count - 1) / count * 4 / 3);
  const double reach = error * StudentFactor(differences.size() - 1);
  found.low_ns = found.added_ns - reach;
  found.high_ns = found.added_ns + reach;
  return found;
}

}  // namespace traceinject
