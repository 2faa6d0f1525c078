// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/excerpt/chosen_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/view/rows/evidence_row.h"

namespace traceinject {
namespace {

bool IsInside(Interval part, Interval whole) {
  return part.start < part.end && part.start >= whole.start && part.end <= whole.end;
}

struct Candidate {
  std::size_t first = 0;
  Interval time;
  std::ptrdiff_t judged = 0;
  bool has_first_place = false;
  std::ptrdiff_t places = 0;
  TimeNs beside_median_ns = 0;

  // Whether to be preferred.
  bool operator>(const Candidate& other) const {
    return std::tuple(judged, has_first_place, places, -beside_median_ns) >
           std::tuple(other.judged, other.has_first_place, other.places, -other.beside_median_ns);
  }
};

Candidate Rate(const Steps& steps, std::size_t first, std::size_t count,
               const std::vector<Interval>& places) {
  const auto begin = steps.steps.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = begin + static_cast<std::ptrdiff_t>(count);
  Candidate rated{first, {begin->time.start, (end - 1)->time.end}};
  rated.judged = std::count_if(begin, end, [](const Step& step) { return step.judged; });
  const auto is_inside = [&](Interval place) { return IsInside(place, rated.time); };
  rated.places = std::count_if(places.begin(), places.end(), is_inside);
  rated.has_first_place = !places.empty() && is_inside(places.front());
  for (auto step = begin; step != end; ++step)
    rated.beside_median_ns += std::abs(step->length_ns() - steps.median_ns);
  return rated;
}

bool AllJudged(const Candidate& chosen, std::size_t count) {
  return chosen.judged == static_cast<std::ptrdiff_t>(count);
}

std::string ReasonOf(const Candidate& chosen, std::size_t count) {
  const std::string judged =
      AllJudged(chosen, count)
          ? "judged by the verdict"
          : fmt::format("{} of {} judged by the verdict", chosen.judged, count);
  return judged + (chosen.places > 0 ? ", with evidence in them" : ", nearest to the median");
}

}  // namespace

std::uint32_t GuiltyRank(const Run& run, const JudgedReport& found) {
  const std::string& place = found.report.verdict().place();
  for (std::uint32_t index = 0; index < run.ranks.size(); ++index) {
    if (run.ranks[index].rank && place == fmt::format("rank {}", *run.ranks[index].rank))
      return index;
  }
  return found.judged ? static_cast<std::uint32_t>(found.judged->rank_index) : 0;
}

ChosenSteps ChooseSteps(const Steps& steps, const std::vector<Interval>& places) {
  if (steps.source == StepSource::kWindow) {
    const Candidate all = Rate(steps, 0, steps.steps.size(), places);
    return {all.time, "the whole window", "no steps were found"};
  }
  const std::size_t count = std::min(kExcerptSteps, steps.steps.size());
  Candidate best = Rate(steps, 0, count, places);
  for (std::size_t first = 1; first + count <= steps.steps.size(); ++first) {
    if (const Candidate next = Rate(steps, first, count, places); next > best) best = next;
  }
  const std::int64_t from = steps.number(best.first), to = steps.number(best.first + count - 1);
  return {best.time,
          from == to ? fmt::format("step {}", from) : fmt::format("steps {} to {}", from, to),
          ReasonOf(best, count), AllJudged(best, count)};
}

ChosenSteps ChooseSteps(const Run& run, const RowModel& model, const JudgedReport& found) {
  const std::uint32_t guilty = GuiltyRank(run, found);
  std::vector<Interval> places;
  for (const proto::Evidence& evidence : found.report.verdict().evidence()) {
    const std::uint32_t row = RowOfEvidence(run, model, evidence);
    if (row == kNone || model.rows[row].rank != guilty) continue;
    if (evidence.start_ns() == evidence.end_ns()) continue;
    places.push_back({model.origin + evidence.start_ns(), model.origin + evidence.end_ns()});
  }
  return ChooseSteps(found.judged->steps, places);
}

}  // namespace traceinject
