// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/add_small_kernels.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/units.h"
#include "analyzer/metrics/gpu/documents.h"
#include "analyzer/metrics/kernels/small_kernels.h"
#include "analyzer/metrics/report/analyze_run.h"

namespace traceinject {
namespace {

using Findings = google::protobuf::RepeatedPtrField<proto::KernelFinding>;

void Add(const SmallKernels& found, Findings& to) {
  if (!found.matter() || found.steps == 0) return;
  proto::KernelFinding& one = *to.Add();
  one.set_name("small_kernels");
  std::string text = fmt::format(
      "kernels shorter than {}: {:.1f} % of the kernel time, {} in {} launches per step",
      FormatTime(kSmallKernelNs), 100 * found.share(),
      FormatTime(found.small.total_ns / found.steps),
      FormatCount(found.small.kernels / found.steps));
  if (2 * found.at_once > found.launched)
    text +=
        "; the GPU starts most kernels as soon as they are launched: it is waiting for launches";
  one.set_text(text);
  const std::vector<std::string> names = found.LeadingNames(3);
  one.set_example(names.front());
  for (std::size_t i = 1; i < names.size(); ++i) one.add_more_examples(names[i]);
  one.set_share(found.share());
  one.set_threshold(2 * found.at_once > found.launched ? kWaitedForSmallShare : kManySmallShare);
  one.set_kernels(found.small.kernels);
  one.set_total_ns(found.small.total_ns);
  one.set_setting("torch.compile(model), optimizer with fused=True, CUDA graphs");
  one.set_change(
      "each takes barely longer than its launch: fused, they read and write memory once, and a "
      "CUDA graph launches them all at once");
  one.set_source(std::string(documents::kTuningByName));
  std::stable_sort(to.begin(), to.end(),
                   [](const proto::KernelFinding& a, const proto::KernelFinding& b) {
                     return a.share() > b.share();
                   });
}

}  // namespace

void AddSmallKernels(const RunAnalysis& analysis, Report& report) {
  SmallKernels sum;
  for (const DeviceFigures& device : analysis.devices) {
    if (analysis.trust.WithholdsSteps(device.rank_index)) continue;
    const SmallKernels found = CountSmallKernels(
        *device.rank, *device.device, device.steps.judged_times(), device.steps.count_judged());
    sum += found;
    for (proto::DeviceReport& to : *report.mutable_devices()) {
      if (to.label() == device.label) Add(found, *to.mutable_kernel_findings());
    }
  }
  Add(sum, *report.mutable_run()->mutable_kernel_findings());
}

}  // namespace traceinject
