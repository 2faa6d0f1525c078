// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/common/whole.h"
#include "analyzer/metrics/gpu/gpu_specs.h"
#include "analyzer/metrics/kernels/measured_hfu.h"
#include "analyzer/metrics/report/report_writer.h"
#include "analyzer/metrics/report/set_if.h"
#include "analyzer/metrics/report/write_telemetry.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

double Share(TimeNs part, TimeNs whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void FitOf(const LaunchFit& fit, proto::LaunchShape& to) {
  to.set_blocks_per_sm(fit.blocks_per_sm);
  to.set_limited_by(std::string(fit.limited_by));
  to.set_occupancy_share(fit.occupancy);
  SetIf(fit.waves, [&](double v) { to.set_waves(v); });
  SetIf(fit.tail_loss, [&](double v) { to.set_tail_share(v); });
}

void WorkOf(const KernelWork& work, proto::KernelWork& to) {
  to.set_kernels(work.kernels);
  to.set_kernel_ns(work.known_ns);
  to.set_flops(work.flops);
  SetIf(work.bytes, [&](double v) { to.set_bytes(v); });
  SetIf(work.tflops_per_s(), [&](double v) { to.set_tflops_per_s(v); });
  SetIf(work.peak_share(), [&](double v) { to.set_peak_share(v); });
  to.set_peak_reason(work.refusal());
  SetIf(work.reached_share(), [&](double v) { to.set_reached_share(v); });
  SetIf(work.intensity(), [&](double v) { to.set_flops_per_byte(v); });
  SetIf(work.compute_bound(), [&](bool v) { to.set_bound(v ? "compute" : "memory"); });
  if (const auto above_ns = work.time_above_ideal_ns()) {
    to.set_ideal_ns(Whole(*work.ideal_ns));
    to.set_above_ideal_ns(Whole(*above_ns));
  }
}

void ShapeOf(const KernelShape& shape, proto::LaunchShape& to) {
  for (const std::int32_t v : shape.grid) to.add_grid(v);
  for (const std::int32_t v : shape.block) to.add_block(v);
  if (shape.cluster[0] != 0) {
    for (const std::int32_t v : shape.cluster) to.add_cluster(v);
  }
  to.set_registers(shape.registers);
  to.set_shared_bytes(shape.static_shared_bytes + shape.dynamic_shared_bytes);
}

void WriteMeasuredRates(const DeviceFigures& device, const KernelCounters& counters,
                        proto::Kernel& to) {
  const GpuSpec* spec = FindGpuSpec(device.device->name);
  const auto use = TensorUseOf(*device.rank, *device.device, counters, device.busy_by_rated);
  if (use) {
    to.mutable_counters()->set_peak_share(use->share);
    to.mutable_counters()->set_peak_share_error(use->error);
    const auto dtype = PeakDtypeFromName(to.dtype());
    const auto peak = spec != nullptr && dtype ? PeakTflops(*spec, *dtype) : std::nullopt;
    // Ordinary cores do not count.
    if (peak && *dtype != PeakDtype::kFp32)
      to.mutable_counters()->set_tflops_per_s(use->share * *peak);
  }
  const auto memory = counters.memory();
  if (spec != nullptr && memory)
    to.mutable_counters()->set_memory_gb_per_s(memory->share * spec->memory_gb_per_s);
}

}  // namespace

template <typename To>
void ReportWriter::Kernels(const KernelTable& table, To& to) const {
  proto::KernelTotals& totals = *to.mutable_kernels();
  totals.set_count(table.count);
  totals.set_total_ns(table.total_ns);
  totals.set_distinct_names(static_cast<std::int64_t>(table.kernels.size()));
  totals.set_unclassified_share(Share(table.unclassified_ns, table.total_ns));
  for (std::size_t i = 0; i < std::min(table.kernels.size(), options_.top_kernels); ++i) {
    const KernelStats& stats = table.kernels[i];
    proto::Kernel& one = *to.add_top_kernels();
    one.set_name(stats.name);
    one.set_kernel_class(std::string(KernelClassName(stats.kernel_class)));
    one.set_count(stats.count);
    one.set_total_ns(stats.total_ns);
    one.set_mean_ns(static_cast<double>(stats.total_ns) / static_cast<double>(stats.count));
    one.set_min_ns(stats.min_ns);
    one.set_max_ns(stats.max_ns);
    one.set_share(Share(stats.total_ns, table.total_ns));
    ShapeOf(stats.shape, *one.mutable_shape());
    if (stats.fit) FitOf(*stats.fit, *one.mutable_shape());
    one.set_dtype(std::string(stats.dtype()));
    SetIf(stats.traits.tensor_cores, [&](bool v) { one.set_tensor_cores(v); });
    if (stats.work.kernels > 0) WorkOf(stats.work, *one.mutable_work());
    one.set_shape_count(stats.shape_count);
  }
  for (const KernelClassStats& stats : table.classes) {
    proto::KernelClass& one = *to.add_classes();
    one.set_name(std::string(KernelClassName(stats.kernel_class)));
    one.set_count(stats.count);
    one.set_total_ns(stats.total_ns);
    one.set_share(Share(stats.total_ns, table.total_ns));
  }
}

template <typename To>
void ReportWriter::CountersOf(const std::vector<const DeviceFigures*>& devices, To& to) const {
  for (proto::Kernel& kernel : *to.mutable_top_kernels()) {
    for (const DeviceFigures* device : devices) {
      const auto found =
          std::find_if(device->kernel_counters.begin(), device->kernel_counters.end(),
                       [&](const KernelCounters& one) {
                         return device->rank->string(one.name) == kernel.name();
                       });
      if (found == device->kernel_counters.end()) continue;
      WriteKernelCounters(*found, *kernel.mutable_counters());
      WriteMeasuredRates(*device, *found, kernel);
      break;
    }
  }
}

void ReportWriter::FindingsOf(const std::vector<KernelFinding>& findings,
                              google::protobuf::RepeatedPtrField<proto::KernelFinding>& to) const {
  for (const KernelFinding& finding : findings) {
    proto::KernelFinding& one = *to.Add();
    one.set_name(std::string(finding.name));
    one.set_text(DescribeFinding(finding));
    one.set_example(finding.example);
    one.set_share(finding.share);
    one.set_threshold(finding.threshold);
    one.set_kernels(finding.kernels);
    one.set_total_ns(finding.total_ns);
    SetIf(finding.above_ideal_ns, [&](double v) { one.set_above_ideal_ns(Whole(v)); });
    one.set_setting(std::string(finding.setting));
    one.set_change(std::string(finding.change));
    one.set_source(std::string(finding.source));
  }
}

template void ReportWriter::Kernels(const KernelTable&, proto::DeviceReport&) const;
template void ReportWriter::Kernels(const KernelTable&, proto::Run&) const;
template void ReportWriter::CountersOf(const std::vector<const DeviceFigures*>&,
                                       proto::DeviceReport&) const;
template void ReportWriter::CountersOf(const std::vector<const DeviceFigures*>&, proto::Run&) const;

}  // namespace traceinject
