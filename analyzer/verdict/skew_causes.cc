// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/skew_causes.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "analyzer/common/median.h"
#include "analyzer/metrics/what_if/bootstrap.h"
#include "analyzer/verdict/code/code_evidence.h"
#include "analyzer/verdict/decide.h"

namespace traceinject {
namespace {

// Explains, or is, most of something.
constexpr double kMajority = 0.5;

struct NamedLabel {
  std::string_view name, label;
};
constexpr NamedLabel kLabels[] = {
    {"straggler", "straggler"},       {"slow_host", "straggler"},
    {"slow_spell", "straggler"},      {"imbalance", "imbalance"},
    {"pipeline_stages", "imbalance"}, {"slow_link", "slow_link"},
    {"slow_transport", "slow_link"},  {"pipeline_bubble", "pipeline_bubble"},
};

// What keeps a host from launching, and the label of a device that it costs time.
struct HostCause {
  IdleCause idle;
  std::string_view label;
};
constexpr HostCause kHostCauses[] = {
    {IdleCause::kDataWait, "dataloader"},      {IdleCause::kSync, "sync_bound"},
    {IdleCause::kDrainedBySync, "sync_bound"}, {IdleCause::kAllocator, "allocator"},
    {IdleCause::kCheckpoint, "checkpoint"},    {IdleCause::kGc, "gc_pause"},
    {IdleCause::kHostWait, kHostWaitLabel},    {IdleCause::kPython, kHostCodeLabel},
    {IdleCause::kHostWait, kHostCodeLabel},
};

bool IsLateRank(const proto::RankFinding& finding) {
  return finding.name() == "straggler" || finding.name() == "slow_host" ||
         finding.name() == "slow_spell";
}

bool IsOn(const DeviceAnalysis& device, const RankFindings& found, int row) {
  return found.processes[static_cast<std::size_t>(row)] == device.rank_index &&
         found.ranks.ranks(row).device() == device.device->ordinal;
}

bool IsAbout(const proto::RankFinding& finding, const DeviceAnalysis& device,
             const RankFindings& found) {
  return std::any_of(finding.rows().begin(), finding.rows().end(),
                     [&](int row) { return IsOn(device, found, row); });
}

const proto::RankRow* RowOf(const DeviceAnalysis& device, const RankFindings& found) {
  for (int row = 0; row < found.ranks.ranks_size(); ++row) {
    if (IsOn(device, found, row)) return &found.ranks.ranks(row);
  }
  return nullptr;
}

std::string PlaceOf(const proto::RankFinding& finding, const RankFindings& found) {
  if (!IsLateRank(finding) || finding.rows().empty()) return {};
  const proto::RankRow& row = found.ranks.ranks(finding.rows(0));
  if (finding.name() == "slow_host") return "host " + row.host();
  return row.has_rank() ? "rank " + std::to_string(row.rank()) : std::string();
}

// As many as the bootstrap draws, spread as the interval says and in no order of its own, so that
// they can be compared with those of other causes one by one.
std::vector<double> SpreadOver(double low, double middle, double high) {
  constexpr double kGolden = 0.6180339887498949, kInside = 0.475;  // 95 %: so much on each side
  std::vector<double> values;
  for (std::size_t i = 0; i < kResamples; ++i) {
    const double turns = static_cast<double>(i + 1) * kGolden;
    const double from_middle = (turns - std::floor(turns) - 0.5) / kInside;
    values.push_back(middle + from_middle * (from_middle < 0 ? middle - low : high - middle));
  }
  return values;
}

// What more micro-batches save is not simulated, so it has no interval: it is sure as far as the
// waits that were measured are those of the schedule.
double LowOf(const proto::RankFinding& finding, const proto::Ranks& ranks) {
  if (finding.has_saved_low_ns()) return static_cast<double>(finding.saved_low_ns());
  const proto::Pipeline& pipeline = ranks.pipeline();
  const double measured = pipeline.ideal_share() > 0
                              ? std::min(1.0, pipeline.bubble_share() / pipeline.ideal_share())
                              : 0;
  return static_cast<double>(finding.saved_ns()) * measured;
}

CauseSaving SavingOf(const proto::RankFinding& finding, std::string_view label,
                     const RankFindings& found, const Savings& savings) {
  CauseSaving saving;
  saving.label = label;
  saving.saved_ns = static_cast<double>(finding.saved_ns());
  saving.low_ns = LowOf(finding, found.ranks);
  saving.high_ns =
      finding.has_saved_high_ns() ? static_cast<double>(finding.saved_high_ns()) : saving.saved_ns;
  saving.resampled = SpreadOver(saving.low_ns, saving.saved_ns, saving.high_ns);
  saving.step_ns =
      found.ranks.has_step_ns() ? static_cast<double>(found.ranks.step_ns()) : savings.step_ns;
  saving.recording_ns = savings.recording_ns;
  saving.finding = &finding;
  saving.place = PlaceOf(finding, found);
  return saving;
}

double IdleOfMeanStep(const DeviceAnalysis& device, std::string_view label) {
  double sum = 0, count = 0;
  const std::vector<bool> use = StepsOfCause(device, label);
  for (std::size_t i = 0; i < use.size(); ++i) {
    if (!use[i]) continue;
    ++count;
    for (const HostCause& cause : kHostCauses) {
      if (cause.label == label) sum += static_cast<double>(device.causes.steps[i].idle(cause.idle));
    }
  }
  return count == 0 ? 0 : sum / count;
}

// How much longer than the GPUs that are not late this one is idle for it, in a mean step.
double IdleOverPeers(const std::deque<DeviceFigures>& judged, const DeviceAnalysis& device,
                     const proto::RankFinding& finding, const RankFindings& found,
                     std::string_view label) {
  std::vector<double> peers;
  for (const DeviceAnalysis& other : judged) {
    if (!IsAbout(finding, other, found)) peers.push_back(IdleOfMeanStep(other, label));
  }
  return peers.empty() ? 0 : IdleOfMeanStep(device, label) - Median(peers);
}

// The cause of the judged device that explains why it is late; null: none does, or it costs the
// peers as much.
CauseSaving* OwnCauseOf(const proto::RankFinding& finding, const std::deque<DeviceFigures>& judged,
                        const DeviceAnalysis& device, const RankFindings& found, Savings& savings) {
  if (!IsLateRank(finding) || finding.reason() != "host" || !IsAbout(finding, device, found))
    return nullptr;
  const auto saved = static_cast<double>(finding.saved_ns());
  for (CauseSaving& cause : savings.causes) {
    const bool is_host_cause =
        std::any_of(std::begin(kHostCauses), std::end(kHostCauses),
                    [&](const HostCause& one) { return one.label == cause.label; });
    if (is_host_cause && cause.finding == nullptr && saved >= kMajority * cause.saved_ns &&
        IdleOverPeers(judged, device, finding, found, cause.label) >= kMajority * saved)
      return &cause;
  }
  return nullptr;
}

bool HasUnevenStages(const proto::Ranks& ranks) {
  return std::any_of(ranks.findings().begin(), ranks.findings().end(),
                     [](const auto& finding) { return finding.name() == "pipeline_stages"; });
}

// Leaves the saving as sure as it was.
void TakeOff(double ns, CauseSaving& saving) {
  for (double* one : {&saving.saved_ns, &saving.low_ns, &saving.high_ns})
    *one = std::max(0.0, *one - ns);
  for (double& one : saving.resampled) one = std::max(0.0, one - ns);
  if (ns > 0) saving.most_ns = saving.saved_ns;
}

}  // namespace

bool IsPlayed(const proto::Ranks& ranks) {
  return ranks.has_replay_error() && ranks.replay_error() <= kReplayErrorLimit;
}

std::vector<const DeviceAnalysis*> LateDevices(const std::deque<DeviceFigures>& judged,
                                               const RankFindings& found) {
  std::vector<const DeviceAnalysis*> late;
  const proto::RankFinding* largest = nullptr;
  for (const proto::RankFinding& finding : found.ranks.findings()) {
    if (largest == nullptr || finding.saved_ns() > largest->saved_ns()) largest = &finding;
  }
  if (largest == nullptr || !IsLateRank(*largest) || !IsPlayed(found.ranks)) return late;
  for (const DeviceFigures& device : judged) {
    if (IsAbout(*largest, device, found)) late.push_back(&device);
  }
  return late;
}

std::optional<double> ExposedWaitOf(const DeviceAnalysis& device, const RankFindings& found) {
  const proto::RankRow* const row = RowOf(device, found);
  if (row == nullptr || !row->has_exposed_wait_ns()) return std::nullopt;
  return static_cast<double>(row->exposed_wait_ns());
}

void AddSkewCauses(const std::deque<DeviceFigures>& judged, const DeviceAnalysis& device,
                   const RankFindings& found, Savings& savings) {
  double not_communication = ExposedWaitOf(device, found).value_or(0);
  if (IsPlayed(found.ranks)) {
    for (const proto::RankFinding& finding : found.ranks.findings()) {
      const auto* const known =
          std::find_if(std::begin(kLabels), std::end(kLabels),
                       [&](const NamedLabel& one) { return one.name == finding.name(); });
      if (known == std::end(kLabels) || !finding.has_saved_ns()) continue;
      // What a formula promises of even stages is asked once they are.
      if (!finding.has_saved_low_ns() && HasUnevenStages(found.ranks)) continue;
      CauseSaving saving = SavingOf(finding, known->label, found, savings);
      if (known->label == "slow_link") not_communication += saving.saved_ns;
      if (CauseSaving* const own = OwnCauseOf(finding, judged, device, found, savings)) {
        if (own->label != kHostWaitLabel) saving.label = own->label;
        saving.scenario = own->scenario;
        *own = std::move(saving);
      } else {
        savings.causes.push_back(std::move(saving));
      }
    }
  }
  for (CauseSaving& cause : savings.causes) {
    if (cause.label == "comm_exposed") TakeOff(not_communication, cause);
  }
  SortSavings(savings);
}

}  // namespace traceinject
