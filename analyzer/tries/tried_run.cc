// SPDX-License-Identifier: Apache-2.0
#include "analyzer/tries/tried_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/mean.h"
#include "analyzer/common/units.h"
#include "analyzer/compare/compared_run.h"
#include "analyzer/tries/losses.h"
#include "injector/options/try_list.h"
#include "schemas/try_levers.h"

namespace traceinject {
namespace {

constexpr std::string_view kLosses = "losses=", kDiff = "diff=";
constexpr std::string_view kAfterTimes = ": ";

// What a lever noted, in the first process where it did; empty: in none.
std::string_view NoteOf(const Run& run, std::string_view lever) {
  for (const Rank& rank : run.ranks) {
    for (const SystemFact& fact : rank.facts) {
      if (fact.kind != kTryFact || !fact.key.starts_with(lever)) continue;
      const std::size_t colon = fact.value.find(kAfterTimes);
      if (colon != std::string::npos)
        return std::string_view(fact.value).substr(colon + kAfterTimes.size());
    }
  }
  return {};
}

std::optional<std::int64_t> PeakBytes(const proto::Report& report) {
  std::optional<std::int64_t> most;
  for (const proto::DeviceReport& device : report.devices()) {
    if (device.has_allocator() && device.allocator().has_peak_reserved_bytes())
      most = std::max(most.value_or(0), device.allocator().peak_reserved_bytes());
  }
  return most;
}

// The run as it is after its first steps, so that the verdict is on what is measured: what happens
// now and then, such as checkpoints, has another share of all steps.
Result<ComparedRun> AfterWarmUp(const Run& run, std::size_t warm_up) {
  const ComparedRun all = PrepareRun(run, {});
  const proto::DeviceSteps& steps = all.device_steps();
  if (all.steps.empty()) return Error{"no training steps were found"};
  const std::int64_t first = std::max(static_cast<std::int64_t>(warm_up), steps.warm_up());
  const std::int64_t count = std::max<std::int64_t>(steps.steps_size() - first, 0);
  if (count < kLeastTriedSteps)
    return Error{fmt::format("{} after {} of warm-up; at least {} are needed",
                             Plural(count, "step"), first, kLeastTriedSteps)};
  ReportOptions options;
  options.steps = StepChoice{steps.first() + first, steps.first() + first + count - 1};
  return PrepareRun(run, options);
}

}  // namespace

double TriedRun::mean_ns() const { return Mean(steps_ns); }

Result<TriedRun> MeasureTry(const Run& run, std::size_t warm_up) {
  Result<ComparedRun> after = AfterWarmUp(run, warm_up);
  if (!after.ok()) return Error{after.error()};
  ComparedRun& side = after.value();
  TriedRun found;
  const auto recording_ns = static_cast<double>(side.report.verdict().recording_ns());
  for (const proto::StepSplit& step : side.device_steps().steps())
    found.steps_ns.push_back(static_cast<double>(step.length_ns()) - recording_ns);
  found.peak_bytes = PeakBytes(side.report);
  found.losses = ParseLosses(NoteOf(run, kLosses));
  found.diff = NoteOf(run, kDiff);
  found.report = std::move(side.report);
  return found;
}

TriedEffect EffectSeen(const proto::Report& report, const std::string& tried) {
  std::vector<TryWish> wishes;
  if (!ParseTryList(tried, &wishes)) return {};
  TriedEffect all;
  for (const TryWish& wish : wishes) {
    TriedEffect one{0, "the recording does not tell of " + wish.text()};
    for (const proto::TriedChange& change : report.tried()) {
      if (change.lever() == wish.text()) one = {change.times(), change.text()};
    }
    if (one.times == 0) return one;
    all.times = all.times == 0 ? one.times : std::min(all.times, one.times);
    all.text += (all.text.empty() ? "" : "; ") + one.text;
  }
  return all;
}

}  // namespace traceinject
