// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/cautions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>

#include "analyzer/compare/compare_kernels.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

// Less of the kernel time in kernels of the same name: hardly the same program.
constexpr double kSameProgram = 0.5;
// Of a step: what recording adds may differ by so much.
constexpr double kRecordingShare = 0.01;
constexpr double kSureSteps = 0.5;  // confidence

std::set<std::string> GpusOf(const ComparedRun& side) {
  std::set<std::string> names;
  for (const proto::DeviceReport& device : side.report.devices()) names.insert(device.name());
  return names;
}

std::string Joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

void BetweenRuns(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to) {
  const std::set<std::string> was = GpusOf(before), is = GpusOf(after);
  if (was != is)
    to.add_cautions(
        fmt::format("different GPUs: {} before, {} after; times also reflect the hardware",
                    Joined(was), Joined(is)));
  const Report &a = before.report, &b = after.report;
  if (a.sources_size() != b.sources_size() || a.devices_size() != b.devices_size())
    to.add_cautions(
        fmt::format("different number of ranks: {} with {} before, {} with {} after; a step may do "
                    "different work",
                    Plural(a.sources_size(), "process", "es"), Plural(a.devices_size(), "GPU"),
                    Plural(b.sources_size(), "process", "es"), Plural(b.devices_size(), "GPU")));
  const proto::Samples &load = a.run().samples(), &other_load = b.run().samples();
  if (load.has_per_step() && other_load.has_per_step() &&
      std::abs(load.per_step() - other_load.per_step()) > 0.01 * load.per_step())
    to.add_cautions(
        fmt::format("different batch size: {:.4g} samples per step before, {:.4g} after; compare "
                    "samples_per_second",
                    load.per_step(), other_load.per_step()));
  if (before.index && after.index && before.device().label() != after.device().label())
    to.add_cautions(
        fmt::format("{} before is compared with {} after: the analyzed GPUs of the two runs have "
                    "no label in common",
                    before.device().label(), after.device().label()));
  if (before.steps.empty() || after.steps.empty()) return;
  const double shared = SharedKernelTime(before, after);
  if (shared < kSameProgram)
    to.add_cautions(
        fmt::format("probably not the same program: only {} of the kernel time is in kernels that "
                    "both runs have",
                    Percent(shared)));
  const std::string &source = before.device_steps().source(),
                    &other = after.device_steps().source();
  if (source != other)
    to.add_cautions(fmt::format(
        "steps are {} before and {} after: one may contain several of the other", source, other));
  const std::int64_t step_ns = std::max(a.verdict().step_ns(), b.verdict().step_ns());
  const std::int64_t recording_ns = b.verdict().recording_ns() - a.verdict().recording_ns();
  if (static_cast<double>(std::abs(recording_ns)) > kRecordingShare * static_cast<double>(step_ns))
    to.add_cautions(fmt::format(
        "recording overhead is about {} per step before and {} after, which is part of the change",
        Rounded(static_cast<double>(a.verdict().recording_ns())),
        Rounded(static_cast<double>(b.verdict().recording_ns()))));
}

}  // namespace

bool AreTheSame(const ComparedRun& before, const ComparedRun& after) {
  const std::vector<Rank>&a = before.run->ranks, &b = after.run->ranks;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Rank& one, const Rank& other) {
    if (one.path == other.path) return true;
    return !one.run_id.empty() && one.run_id == other.run_id &&
           one.process.pid == other.process.pid && one.process.host == other.process.host &&
           one.end - one.start == other.end - other.start;
  });
}

std::vector<std::string> CautionsOn(const ComparedRun& side) {
  std::vector<std::string> cautions;
  const proto::Health::Grade grade = side.report.health().grade();
  if (grade == proto::Health::GRADE_BAD || grade == proto::Health::GRADE_LOSSY)
    cautions.push_back(
        fmt::format("trace health is {}; analyze report explains why", HealthGradeText(grade)));
  for (const proto::Withheld& withheld : side.report.trust().withheld())
    cautions.push_back(WithheldText(side.report, withheld));
  if (side.steps.empty()) return cautions;
  if (side.steps.size() < kFewSteps)
    cautions.push_back(fmt::format("only {}, so intervals are too narrow; record a few dozen steps",
                                   Plural(static_cast<std::int64_t>(side.steps.size()), "step")));
  if (side.device_steps().confidence() < kSureSteps)
    cautions.push_back(fmt::format("steps were inferred with a confidence of only {:.2f}",
                                   side.device_steps().confidence()));
  return cautions;
}

void AddCautions(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to) {
  BetweenRuns(before, after, to);
  for (const std::string& caution : CautionsOn(before)) to.add_cautions("before: " + caution);
  for (const std::string& caution : CautionsOn(after)) to.add_cautions("after: " + caution);
}

}  // namespace traceinject
