// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "analyzer/metrics/cost/ab_steps.h"
#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/set_if.h"

namespace traceinject {
namespace {

constexpr std::string_view kOwnNs = "own_ns";

// Longer, in any unit, nobody measures; of a damaged file it may be anything.
constexpr std::int64_t kMostMeasured = std::int64_t{1} << 53;
bool IsMeasured(std::int64_t value) { return value >= 0 && value <= kMostMeasured; }

std::optional<std::int64_t> Counter(const Rank& rank, std::string_view source,
                                    std::string_view name) {
  for (const HealthCounter& counter : rank.health) {
    if (counter.source == source && counter.counter == name && IsMeasured(counter.value))
      return counter.value;
  }
  return std::nullopt;
}

TimeNs RecordedTime(const Rank& rank) {
  TimeNs recorded = rank.end - rank.start;
  for (const CaptureGap& gap : rank.gaps) {
    if (gap.planned())
      recorded -=
          std::max<TimeNs>(0, std::min(gap.end, rank.end) - std::max(gap.start, rank.start));
  }
  return std::max<TimeNs>(0, recorded);
}

void OwnOf(const Rank& rank, proto::RecordingCost& to) {
  std::int64_t sum = 0;
  for (const HealthCounter& counter : rank.health) {
    if (counter.counter != kOwnNs || !IsMeasured(counter.value)) continue;
    proto::OwnCost& one = *to.add_own();
    one.set_source(counter.source);
    one.set_ns(counter.value);
    sum += counter.value;
  }
  std::stable_sort(
      to.mutable_own()->begin(), to.mutable_own()->end(),
      [](const proto::OwnCost& a, const proto::OwnCost& b) { return a.ns() > b.ns(); });
  const std::int64_t samples = Counter(rank, "own", "samples").value_or(0);
  to.set_samples(samples);
  if (samples > 0) to.set_own_ns(sum);
}

void AbOf(const Rank& rank, proto::RecordingCost& to) {
  const std::optional<AbSteps> found = CompareSteps(rank);
  if (!found) {
    const bool asked = std::any_of(rank.facts.begin(), rank.facts.end(), [](const auto& fact) {
      return fact.kind == "option" && fact.key == "TRACEINJECT_AB";
    });
    if (asked && rank.step_marks.size() == 0)
      to.set_ab_reason("no optimizer steps were seen");
    else if (asked)
      to.set_ab_reason("too few blocks of steps: let it run longer, or make the blocks shorter");
    return;
  }
  const auto whole = [](double ns) { return static_cast<std::int64_t>(std::llround(ns)); };
  proto::AbSteps& ab = *to.mutable_ab();
  ab.set_blocks(found->blocks);
  ab.set_recorded_steps(found->recorded_steps);
  ab.set_unrecorded_steps(found->unrecorded_steps);
  ab.set_recorded_ns(whole(found->recorded_ns));
  ab.set_unrecorded_ns(whole(found->unrecorded_ns));
  ab.set_added_ns(whole(found->added_ns));
  ab.set_added_low_ns(whole(found->low_ns));
  ab.set_added_high_ns(whole(found->high_ns));
}

}  // namespace

void ReportWriter::RecordingCosts(Report& to) const {
  for (std::size_t index = 0; index < run_.ranks.size(); ++index) {
    const Rank& rank = run_.ranks[index];
    const std::optional<std::int64_t> writer_us = Counter(rank, "writer", "cpu_us");
    if (!writer_us) continue;  // by a recorder that did not measure itself
    proto::RecordingCost& cost = *to.add_recording_costs();
    cost.set_source(static_cast<int>(index));
    cost.set_recorded_ns(RecordedTime(rank));
    OwnOf(rank, cost);
    cost.set_writer_cpu_ns(*writer_us * 1000);
    SetIf(Counter(rank, "sampler", "cpu_us"),
          [&](std::int64_t us) { cost.set_sampler_cpu_ns(us * 1000); });
    SetIf(Counter(rank, "file", "bytes"), [&](std::int64_t v) { cost.set_file_bytes(v); });
    AbOf(rank, cost);
  }
}

}  // namespace traceinject
