// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/withhold.h"

#include <algorithm>

#include "analyzer/model/kernel_class.h"
#include "analyzer/model/kernel_traits.h"

namespace traceinject {
namespace {

// Which call a kernel belongs to tells its work; what its name tells stays.
template <typename Part>
void ClearKernelWork(Part& part) {
  for (proto::Kernel& kernel : *part.mutable_top_kernels()) {
    kernel.clear_work();
    const auto kernel_class = KernelClassFromName(kernel.kernel_class());
    kernel.set_dtype(
        std::string(TraitsOf(kernel.name(), kernel_class.value_or(KernelClass::kOther)).dtype));
  }
  for (proto::KernelFinding& finding : *part.mutable_kernel_findings())
    finding.clear_above_ideal_ns();
}

// Of a device or of the run.
template <typename Part>
void ClearFigures(Figures figures, const std::string& reason, Part& part) {
  switch (figures) {
    case Figures::kTimes:
      part.clear_window();
      part.clear_copies();
      part.clear_samples();
      part.mutable_nccl()->clear_rows();
      part.mutable_nccl()->clear_link();
      return;
    case Figures::kSteps:
      part.clear_samples();
      return;
    case Figures::kPartition:
      part.clear_partition();
      part.clear_idle_causes();
      return;
    case Figures::kGapCauses:
      part.clear_idle_causes();
      return;
    case Figures::kLinks:
      part.clear_matrix_products();
      ClearKernelWork(part);
      part.mutable_nccl()->clear_rows();
      part.mutable_nccl()->clear_link();
      part.mutable_nccl()->clear_calls();
      part.mutable_nccl()->clear_linked_kernels();
      part.mutable_nccl()->set_caveat("NCCL figures are withheld: " + reason + ".");
  }
}

void ClearRun(Figures figures, const std::string& reason, proto::Run& run) {
  ClearFigures(figures, reason, run);
  if (figures != Figures::kPartition) return;
  run.clear_busy_share();
  run.clear_compute_share();
  run.clear_exposed_communication_share();
  run.clear_exposed_copy_share();
  run.clear_idle_share();
}

// It rests on the number of steps and on the window.
void WithholdMfu(const std::string& reason, proto::Mfu& mfu) {
  if (!mfu.has_mfu_percent()) return mfu.clear_window_ns();
  proto::Mfu withheld;
  withheld.set_requested(mfu.requested());
  withheld.set_reason(reason);
  mfu = withheld;
}

bool Withholds(const proto::Report& report, int source, Figures figures) {
  return std::any_of(report.trust().withheld().begin(), report.trust().withheld().end(),
                     [&](const proto::Withheld& each) {
                       return each.source() == source && each.figures() == FiguresName(figures);
                     });
}

bool HasDevices(const proto::Report& report, int source) {
  return std::any_of(report.devices().begin(), report.devices().end(),
                     [&](const proto::DeviceReport& each) { return each.source() == source; });
}

void ClearCauses(proto::StepSplit& split) { split.clear_idle(); }

}  // namespace

void WithholdFigures(const TrustJudgement& judgement, proto::Report& report) {
  for (const TrustFinding& finding : judgement.findings) {
    proto::TrustFinding& to = *report.mutable_trust()->add_findings();
    to.set_source(static_cast<int>(finding.rank));
    to.set_name(finding.name);
    to.set_count(finding.count);
    if (finding.share) to.set_share(*finding.share);
    if (finding.time_ns) to.set_time_ns(*finding.time_ns);
    to.set_text(finding.text);
  }
  for (const WithheldFigures& withheld : judgement.withheld) {
    proto::Withheld& to = *report.mutable_trust()->add_withheld();
    to.set_source(static_cast<int>(withheld.rank));
    to.set_figures(std::string(FiguresName(withheld.figures)));
    to.set_reason(withheld.reason);
    if (withheld.figures == Figures::kTimes) {
      report.mutable_scope()->clear_outside();
      report.mutable_scope()->clear_time_ns();
    }
    if (!HasDevices(report, to.source())) continue;  // no sum holds anything of it
    ClearRun(withheld.figures, withheld.reason, *report.mutable_run());
    if (withheld.figures == Figures::kTimes || withheld.figures == Figures::kSteps)
      WithholdMfu(withheld.reason, *report.mutable_mfu());
    if (withheld.figures == Figures::kTimes) {
      report.clear_data_loaders();
      report.mutable_run()->clear_allocation_calls();
    }
    // Joined by times and launches.
    if (withheld.figures == Figures::kTimes || withheld.figures == Figures::kLinks)
      report.clear_nvtx_ranges();
    for (proto::DeviceReport& device : *report.mutable_devices()) {
      if (device.source() != static_cast<int>(withheld.rank)) continue;
      ClearFigures(withheld.figures, withheld.reason, device);
      device.clear_waterfall();
      if (withheld.figures == Figures::kTimes) device.clear_telemetry();
      // Shares of the busy time, and rates.
      if (withheld.figures == Figures::kTimes || withheld.figures == Figures::kPartition)
        device.clear_link_findings();
      if (withheld.figures != Figures::kLinks && withheld.figures != Figures::kSteps)
        device.clear_longest_gaps();
      if (withheld.figures == Figures::kTimes) {
        device.clear_memory_samples();
        device.clear_device_samples();
      }
    }
  }
}

void WithholdSteps(proto::Report& report) {
  for (int i = 0; i < std::min(report.steps_size(), report.devices_size()); ++i) {
    proto::DeviceSteps& steps = *report.mutable_steps(i);
    const int source = report.devices(i).source();
    const bool lengths = Withholds(report, source, Figures::kSteps);
    if (lengths) {
      steps.clear_median_ns();
      steps.clear_mad_ns();
      steps.clear_warm_up();
      steps.clear_irregular();
      steps.clear_regular_mean_ns();
      steps.clear_regular_median_ns();
      steps.clear_regular();
      steps.clear_judged();
      steps.clear_judged_mean_ns();
      steps.clear_judged_median_ns();
      steps.clear_judged_text();
      steps.clear_left_out();
    }
    if (lengths || Withholds(report, source, Figures::kPartition) ||
        Withholds(report, source, Figures::kGapCauses))
      steps.clear_queue();
    // Found by their times.
    if (Withholds(report, source, Figures::kTimes)) steps.clear_count();
    if (lengths || Withholds(report, source, Figures::kPartition)) {
      steps.clear_run_time();
      steps.clear_sum();
      steps.clear_regular_sum();
      steps.clear_judged_sum();
      steps.clear_steps();
    } else if (Withholds(report, source, Figures::kGapCauses)) {
      steps.clear_run_time();
      ClearCauses(*steps.mutable_sum());
      ClearCauses(*steps.mutable_regular_sum());
      ClearCauses(*steps.mutable_judged_sum());
      for (proto::StepSplit& step : *steps.mutable_steps()) ClearCauses(step);
    }
  }
}

}  // namespace traceinject
