// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/text/judged_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/verdict/targets.h"

namespace traceinject {
namespace {

template <typename Messages>
auto OneOfVerdict(const proto::Report& report, const Messages& messages) {
  const auto found = std::find_if(messages.begin(), messages.end(), [&](const auto& one) {
    return one.label() == report.verdict().device();
  });
  if (found != messages.end()) return &*found;
  return messages.empty() ? nullptr : &messages[0];
}

TargetFigure Held(std::string name, std::string value, std::string target, bool reached) {
  return {std::move(name), std::move(value), std::move(target), reached ? "ok" : "short of target",
          reached};
}

}  // namespace

const proto::DeviceSteps* JudgedSteps(const proto::Report& report) {
  return OneOfVerdict(report, report.steps());
}

const proto::DeviceReport* JudgedDevice(const proto::Report& report) {
  return OneOfVerdict(report, report.devices());
}

std::string MeanStepTitle(const proto::Report& report, const proto::DeviceSteps& steps) {
  if (steps.judged_text().empty()) {
    return steps.median_ns() > 0 ? fmt::format("{} of {} (no steps found)",
                                               FormatTime(steps.median_ns()), steps.label())
                                 : "Steps of " + steps.label();
  }
  std::string text =
      fmt::format("Mean step {} over {}", FormatTime(steps.judged_mean_ns()), steps.judged_text());
  if (!steps.numbered().empty()) text += fmt::format(" of '{}N'", steps.numbered());
  return report.devices_size() > 1 ? text + " (" + steps.label() + ")" : text;
}

std::vector<TargetFigure> TargetsOf(const proto::Report& report) {
  std::vector<TargetFigure> targets;
  const proto::DeviceSteps* steps = JudgedSteps(report);
  const proto::DeviceReport* device = JudgedDevice(report);
  if (steps == nullptr || device == nullptr || !steps->has_judged_sum()) return targets;
  const proto::StepSplit& sum = steps->judged_sum();
  if (sum.length_ns() <= 0) return targets;
  const std::int64_t busy_ns = sum.length_ns() - sum.idle_ns() - sum.unrecorded_ns();
  const double busy = static_cast<double>(busy_ns) / static_cast<double>(sum.length_ns());
  targets.push_back(Held("GPU busy", Percent(busy), fmt::format("{:.0f} %", 100 * kBusyTarget),
                         busy >= kBusyTarget));
  const proto::Partition& partition = device->partition();
  if (partition.communication_ns() == 0 || !partition.has_communication_to_compute())
    return targets;
  const double ratio = partition.communication_to_compute();
  targets.push_back(Held("communication / compute", fmt::format("{:.3f}", ratio),
                         fmt::format("below {:g}", kCommComputeTarget),
                         ratio < kCommComputeTarget));
  return targets;
}

std::optional<HfuFigure> HfuOf(const proto::Report& report) {
  const proto::DeviceReport* device = JudgedDevice(report);
  if (device != nullptr && device->measured_use().has_peak_share()) {
    const proto::MeasuredUse& use = device->measured_use();
    return HfuFigure{
        "HFU, measured",
        fmt::format("{} ± {}", Percent(use.peak_share()), Percent(use.peak_share_error())), true};
  }
  const proto::MatrixProducts& products = report.run().matrix_products();
  if (!products.has_peak_share()) return std::nullopt;
  return HfuFigure{"HFU, at least", Percent(products.peak_share()), false};
}

bool IsShown(std::int64_t part, std::int64_t whole) {
  constexpr std::int64_t kLeast = 2'000;  // 0.05 % of it
  return part > 0 && part >= whole / kLeast;
}

}  // namespace traceinject
