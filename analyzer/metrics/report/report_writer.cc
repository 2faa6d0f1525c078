// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/report_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/allocation_calls.h"
#include "analyzer/metrics/idle/data_loading.h"
#include "analyzer/metrics/kernels/device_waterfall.h"
#include "analyzer/metrics/report/nvtx_projection.h"
#include "analyzer/metrics/report/set_if.h"
#include "analyzer/metrics/report/write_telemetry.h"

namespace traceinject {
namespace {

proto::Gap::Cause CauseOf(GapCause cause) {
  switch (cause) {
    case GapCause::kHostLate:
      return proto::Gap::CAUSE_HOST_LATE;
    case GapCause::kLaunchLatency:
      return proto::Gap::CAUSE_LAUNCH_LATENCY;
    case GapCause::kQueued:
      return proto::Gap::CAUSE_QUEUED;
    case GapCause::kUnknown:
      break;
  }
  return proto::Gap::CAUSE_UNKNOWN;
}

proto::HostActivity::Kind KindOf(HostActivity::Kind kind) {
  switch (kind) {
    case HostActivity::Kind::kApi:
      return proto::HostActivity::KIND_API;
    case HostActivity::Kind::kRange:
      return proto::HostActivity::KIND_RANGE;
    case HostActivity::Kind::kCollective:
      return proto::HostActivity::KIND_COLLECTIVE;
  }
  return proto::HostActivity::KIND_UNKNOWN;
}

// `idle`: by start, as ExplainIdle() gives it.
void CausesOfGap(const std::vector<IdlePiece>& idle, Interval gap, proto::Gap& to) {
  std::array<TimeNs, kIdleCauses> sums{};
  const auto first = std::partition_point(idle.begin(), idle.end(), [&](const IdlePiece& piece) {
    return piece.time.end <= gap.start;
  });
  for (auto piece = first; piece != idle.end() && piece->time.start < gap.end; ++piece) {
    sums[static_cast<std::size_t>(piece->cause)] +=
        std::min(piece->time.end, gap.end) - std::max(piece->time.start, gap.start);
  }
  std::vector<std::size_t> causes;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] > 0) causes.push_back(i);
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [&](std::size_t a, std::size_t b) { return sums[a] > sums[b]; });
  for (const std::size_t cause : causes) {
    proto::IdlePart& part = *to.add_causes();
    part.set_cause(std::string(IdleCauseName(static_cast<IdleCause>(cause))));
    part.set_ns(sums[cause]);
  }
}

// The time of the report on each process, that is of all its devices, in order.
struct ProcessWindow {
  std::size_t rank_index = 0;
  const Rank* rank = nullptr;
  Intervals times;

  Interval hull() const { return {times.front().start, times.back().end}; }
};

std::vector<ProcessWindow> ProcessWindows(const std::deque<DeviceFigures>& devices) {
  std::vector<ProcessWindow> windows;
  for (const DeviceFigures& found : devices) {
    if (windows.empty() || windows.back().rank != found.rank)
      windows.push_back({found.rank_index, found.rank, {}});
    Intervals& times = windows.back().times;
    times.insert(times.end(), found.times.begin(), found.times.end());
    times = Merge(std::move(times));
  }
  return windows;
}

void WorkerOf(const Rank& rank, const WorkerUse& use, proto::DataWorker& to) {
  to.set_pid(rank.workers[use.worker].pid);
  to.set_observed_ns(use.observed_ns);
  if (use.cpu_ns && use.observed_ns > 0)
    to.set_cpu_share(static_cast<double>(*use.cpu_ns) / static_cast<double>(use.observed_ns));
  if (use.looks > 0)
    to.set_disk_share(static_cast<double>(use.looks_disk) / static_cast<double>(use.looks));
  SetIf(use.read_bytes, [&](std::int64_t v) { to.set_read_bytes(v); });
}

void LoaderOf(const Rank& rank, const LoaderUse& use, proto::DataLoader& to) {
  if (use.loader < rank.loaders.size()) {
    const DataLoader& loader = rank.loaders[use.loader];
    to.set_workers(loader.workers);
    to.set_pin_memory(loader.pin_memory);
    to.set_persistent_workers(loader.persistent_workers);
    SetIf(loader.prefetch_factor, [&](int v) { to.set_prefetch_factor(v); });
    SetIf(loader.batch_size, [&](int v) { to.set_batch_size(v); });
  }
  to.set_waits(use.waits);
  to.set_wait_ns(use.wait_ns);
  to.set_longest_wait_ns(use.longest_ns);
  SetIf(use.samples, [&](std::int64_t v) { to.set_samples(v); });
  for (const WorkerUse& worker : use.workers) WorkerOf(rank, worker, *to.add_worker_processes());
}

void AttentionOf(const AttentionCalls& attention, proto::Attention& to) {
  to.set_calls(attention.calls);
  to.set_backward_calls(attention.backward_calls);
  to.set_linked_calls(attention.linked_calls);
  to.set_product_calls(attention.product_calls);
  to.set_unknown_calls(attention.unknown_calls);
  to.set_flops(attention.flops);
  to.set_kernel_ns(attention.kernel_ns);
}

void SamplesOf(const SampleRate& rate, proto::Samples& to) {
  to.set_per_step(rate.per_step);
  to.set_per_second(rate.per_second);
}

// A process counts once, however many devices it has.
std::optional<SampleRate> SumOfSamples(const std::deque<DeviceFigures>& devices) {
  SampleRate sum;
  const Rank* last = nullptr;
  for (const DeviceFigures& found : devices) {
    if (!found.samples) return std::nullopt;
    if (found.rank == last) continue;
    last = found.rank;
    sum.per_step += found.samples->per_step;
    sum.per_second += found.samples->per_second;
  }
  return sum;
}

void AllocatorOf(const AllocatorSamples& samples, proto::Allocator& to) {
  const auto largest = [&](const auto& column) {
    std::optional<std::int64_t> most;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (column[i] >= 0) most = std::max<std::int64_t>(most.value_or(0), column[i]);
    }
    return most;
  };
  SetIf(largest(samples.peak_allocated_bytes),
        [&](std::int64_t v) { to.set_peak_allocated_bytes(v); });
  SetIf(largest(samples.peak_reserved_bytes),
        [&](std::int64_t v) { to.set_peak_reserved_bytes(v); });
  SetIf(largest(samples.retries), [&](std::int64_t v) { to.set_retries(v); });
  SetIf(largest(samples.ooms), [&](std::int64_t v) { to.set_ooms(v); });
}

template <typename PartOf>
void SetSpread(const std::deque<DeviceFigures>& devices, PartOf part_of, proto::Spread& to) {
  std::vector<std::pair<double, const DeviceFigures*>> values;
  for (const DeviceFigures& found : devices)
    values.emplace_back(found.partition.share(std::invoke(part_of, found.partition)), &found);
  std::stable_sort(values.begin(), values.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::size_t middle = values.size() / 2;
  to.set_min(values.front().first);
  to.set_median(values.size() % 2 == 1 ? values[middle].first
                                       : (values[middle - 1].first + values[middle].first) / 2);
  to.set_max(values.back().first);
  to.set_min_at(values.front().second->label);
  to.set_max_at(values.back().second->label);
}

// Busy is all that is neither idle nor unknown, so its spread is theirs turned round.
void SetBusySpread(const std::deque<DeviceFigures>& devices, proto::Spread& to) {
  proto::Spread rest;
  const auto not_busy = [](const Partition& partition) {
    return partition.idle_ns + partition.unrecorded_ns;
  };
  SetSpread(devices, not_busy, rest);
  to.set_min(1 - rest.max());
  to.set_median(1 - rest.median());
  to.set_max(1 - rest.min());
  to.set_min_at(rest.max_at());
  to.set_max_at(rest.min_at());
}

}  // namespace

std::string OperationName(const Rank& rank, const GpuOps& ops, std::uint32_t op) {
  if (ops.kind[op] == OpKind::kKernel)
    return std::string(rank.string(rank.shapes[ops.detail[op]].name));
  const Transfer& transfer = rank.transfers[ops.detail[op]];
  if (ops.kind[op] == OpKind::kMemset) return "memset";
  return fmt::format("memcpy {}, {} to {}", CopyKindName(transfer.kind),
                     MemoryKindName(transfer.src_kind), MemoryKindName(transfer.dst_kind));
}

void ReportWriter::Sources(Report& report) const {
  for (const Rank& rank : run_.ranks) {
    proto::Source& to = *report.add_sources();
    to.set_path(rank.path);
    SetIf(rank.rank, [&](int v) { to.set_rank(v); });
    to.set_host(rank.process.host);
    to.set_pid(rank.process.pid);
    to.set_run_id(rank.run_id);
    to.set_tool_version(rank.tool_version);
    to.set_schema_version(rank.schema_version);
    to.set_closed(rank.closed);
    SetIf(rank.process.world_size, [&](int v) { to.set_world_size(v); });
    to.set_command_line(rank.process.command_line);
    SetIf(rank.process.driver_version, [&](int v) { to.set_driver_version(v); });
    SetIf(rank.process.cupti_version, [&](int v) { to.set_cupti_version(v); });
    SetIf(rank.process.nccl_version, [&](int v) { to.set_nccl_version(v); });
  }
}

void ReportWriter::WindowOf(const Window& window, proto::Window& to) const {
  to.set_start_ns(window.time.start - origin_);
  to.set_end_ns(window.time.end - origin_);
  to.set_restricted(window.restricted);
}

void ReportWriter::PartitionOf(const Partition& partition, proto::Partition& to) const {
  to.set_wall_ns(partition.wall_ns);
  to.set_compute_ns(partition.compute_ns);
  to.set_exposed_communication_ns(partition.exposed_communication_ns);
  to.set_exposed_copy_ns(partition.exposed_copy_ns);
  to.set_idle_ns(partition.idle_ns);
  const auto [compute, communication, copy, idle, unrecorded] = RoundedPercentages(partition);
  if (partition.unrecorded_ns > 0) {
    to.set_unrecorded_ns(partition.unrecorded_ns);
    to.set_unrecorded_percent(unrecorded);
  }
  to.set_compute_percent(compute);
  to.set_exposed_communication_percent(communication);
  to.set_exposed_copy_percent(copy);
  to.set_idle_percent(idle);
  to.set_busy_ns(partition.busy_ns());
  to.set_communication_ns(partition.communication_ns);
  to.set_copy_ns(partition.copy_ns);
  SetIf(partition.communication_to_compute(),
        [&](double v) { to.set_communication_to_compute(v); });
  SetIf(partition.overlap_share(), [&](double v) { to.set_overlap_share(v); });
  to.set_busy_share(partition.share(partition.busy_ns()));
  to.set_exposed_communication_share(partition.share(partition.exposed_communication_ns));
}

void ReportWriter::Causes(const IdleCauses& causes, proto::IdleCauses& to) const {
  to.set_gap_count(causes.gap_count);
  to.set_host_late_ns(causes.host_late_ns);
  to.set_launch_latency_ns(causes.launch_latency_ns);
  to.set_queued_ns(causes.queued_ns);
  to.set_unknown_ns(causes.unknown_ns);
}

void ReportWriter::GapOf(const DeviceFigures& found, const Gap& gap,
                         const HostActivities& activities, proto::Gap& to) const {
  const Rank& rank = *found.rank;
  to.set_start_ns(gap.time.start - origin_);
  to.set_duration_ns(gap.length_ns());
  to.set_cause(CauseOf(gap.cause));
  to.set_host_late_ns(gap.host_late_ns);
  to.set_launch_latency_ns(gap.launch_latency_ns);
  if (gap.op != kNone) to.set_ended_by(OperationName(rank, found.device->ops, gap.op));
  if (gap.launch != kNone) {
    to.set_launch_api(rank.api_names[rank.api.name[gap.launch]].name);
    to.set_launch_start_ns(rank.api.start[gap.launch] - origin_);
    const traceinject::Thread& thread = rank.threads[rank.api.thread[gap.launch]];
    to.set_thread(thread.tid);
    to.set_thread_name(thread.name);
  }
  const std::vector<HostActivity> done = activities.During(gap);
  for (const HostActivity& activity : done) {
    proto::HostActivity& one = *to.add_activities();
    one.set_kind(KindOf(activity.kind));
    one.set_name(activity.name);
    one.set_count(activity.count);
    one.set_overlap_ns(activity.overlap_ns);
    one.set_thread(rank.threads[activity.thread].tid);
  }
  to.set_text(DescribeGap(rank, gap, done));
  CausesOfGap(found.idle, gap.time, to);
}

void ReportWriter::CaptureGaps(const DeviceFigures& found, proto::DeviceReport& to) const {
  for (const CaptureGap& gap : found.rank->gaps) {
    const TimeNs start = std::max(gap.start, found.hull().start),
                 end = std::min(gap.end, found.hull().end);
    if (end <= start) continue;
    proto::CaptureGap& one = *to.add_capture_gaps();
    one.set_start_ns(start - origin_);
    one.set_end_ns(end - origin_);
    one.set_reason(gap.reason);
  }
}

void ReportWriter::Peaks(const GpuSpec& spec, proto::GpuPeaks& to) const {
  to.set_title(std::string(spec.title));
  SetIf(PeakTflops(spec, PeakDtype::kBf16), [&](double v) { to.set_bf16_tflops(v); });
  SetIf(PeakTflops(spec, PeakDtype::kFp16), [&](double v) { to.set_fp16_tflops(v); });
  SetIf(PeakTflops(spec, PeakDtype::kTf32), [&](double v) { to.set_tf32_tflops(v); });
  SetIf(PeakTflops(spec, PeakDtype::kFp8), [&](double v) { to.set_fp8_tflops(v); });
  SetIf(PeakTflops(spec, PeakDtype::kFp32), [&](double v) { to.set_fp32_tflops(v); });
  if (spec.memory_gb_per_s > 0) to.set_memory_gb_per_s(spec.memory_gb_per_s);
  if (spec.nvlink_gb_per_s > 0) to.set_nvlink_gb_per_s(spec.nvlink_gb_per_s);
  to.set_source(std::string(spec.source));
  if (spec.bf16_tflops > 0 || spec.fp16_tflops > 0)
    to.set_reached_16bit_share(ReachedShare(spec, PeakDtype::kFp16));
  if (spec.fp8_tflops > 0) to.set_reached_fp8_share(ReachedShare(spec, PeakDtype::kFp8));
  if (spec.memory_gb_per_s > 0) to.set_reached_memory_share(kReachedMemoryShare);
}

template <typename To>
void ReportWriter::Copies(const std::vector<CopyStats>& copies, To& to) const {
  for (const CopyStats& stats : copies) {
    proto::Copy& one = *to.add_copies();
    one.set_kind(stats.is_memset ? "memset" : std::string(CopyKindName(stats.kind)));
    if (!stats.is_memset) {
      one.set_source_memory(std::string(MemoryKindName(stats.src_kind)));
      one.set_target_memory(std::string(MemoryKindName(stats.dst_kind)));
    }
    one.set_count(stats.count);
    one.set_async_count(stats.async_count);
    one.set_bytes(stats.bytes);
    one.set_total_ns(stats.total_ns);
    SetIf(stats.gb_per_s(), [&](double v) { one.set_gb_per_s(v); });
    one.set_exposed_ns(stats.exposed_ns);
  }
}

void ReportWriter::ProductsOf(const MatrixProducts& products, const AttentionCalls& attention,
                              const std::optional<StepFlops>& step,
                              proto::MatrixProducts& to) const {
  AttentionOf(attention, *to.mutable_attention());
  SetIf(attention.unknown_share(), [&](double v) { to.set_unknown_share(v); });
  if (step) {
    to.set_flops_per_step(step->flops);
    to.set_step_ns(static_cast<std::int64_t>(std::llround(step->step_ns)));
    SetIf(step->peak_share, [&](double v) { to.set_peak_share(v); });
    to.set_peak_reason(step->reason);
  }
  to.set_calls(products.calls);
  to.set_linked_calls(products.linked_calls);
  to.set_flops(products.flops);
  to.set_kernel_ns(products.kernel_ns);
  for (const MatrixProductRow& row : products.rows) {
    if (IsOperator(row.function)) to.set_from_operators(true);
    proto::MatrixProductRow& one = *to.add_rows();
    one.set_function(row.function);
    one.set_m(row.shape.m);
    one.set_n(row.shape.n);
    one.set_k(row.shape.k);
    one.set_batch(row.shape.batch);
    one.set_types(MatrixTypes(row.shape));
    one.set_calls(row.calls);
    one.set_kernels(row.kernels);
    one.set_flops(row.flops);
    one.set_kernel_ns(row.kernel_ns);
    if (row.kernel_ns > 0)
      one.set_tflops_per_s(row.flops / static_cast<double>(row.kernel_ns) / 1000);
  }
}

void ReportWriter::MemoryOf(const MemoryCalls& memory, proto::MemoryCalls& to) const {
  to.set_allocations(memory.allocations);
  to.set_releases(memory.releases);
  to.set_allocated_bytes(memory.allocated_bytes);
  to.set_peak_bytes(memory.peak_bytes);
  to.set_host_allocations(memory.host_allocations);
  to.set_host_releases(memory.host_releases);
  to.set_host_bytes(memory.host_bytes);
  to.set_call_ns(memory.call_ns);
}

void ReportWriter::SamplesOfMemory(const DeviceFigures& found, proto::DeviceReport& to) const {
  const AllocatorSamples& allocator = found.device->allocator;
  const DeviceSamples& card = found.device->samples;
  const std::vector<TimeNs>& times = allocator.size() > 0 ? allocator.time : card.time;
  const auto set = [](std::int64_t value, auto setter) {
    if (value >= 0) setter(value);
  };
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (times[i] < found.hull().start || times[i] >= found.hull().end) continue;
    proto::MemorySample& one = *to.add_memory_samples();
    one.set_time_ns(times[i] - origin_);
    const auto told = std::upper_bound(card.time.begin(), card.time.end(), times[i]);
    if (told != card.time.begin()) {
      set(card.memory_used_bytes[static_cast<std::size_t>(told - card.time.begin()) - 1],
          [&](std::int64_t v) { one.set_used_bytes(v); });
    }
    if (allocator.size() == 0) continue;
    set(allocator.allocated_bytes[i], [&](std::int64_t v) { one.set_allocated_bytes(v); });
    set(allocator.reserved_bytes[i], [&](std::int64_t v) { one.set_reserved_bytes(v); });
    set(allocator.active_bytes[i], [&](std::int64_t v) { one.set_active_bytes(v); });
    set(allocator.peak_allocated_bytes[i],
        [&](std::int64_t v) { one.set_peak_allocated_bytes(v); });
    set(allocator.peak_reserved_bytes[i], [&](std::int64_t v) { one.set_peak_reserved_bytes(v); });
    set(allocator.retries[i], [&](std::int64_t v) { one.set_retries(v); });
    set(allocator.ooms[i], [&](std::int64_t v) { one.set_ooms(v); });
  }
}

void ReportWriter::JoinOf(const JoinRate& join, proto::Join& to) const {
  to.set_operations(join.operations);
  to.set_joined(join.joined);
  if (join.share()) {
    to.set_share(*join.share());
  } else {
    to.set_reason(join.operations + join.beyond == 0 ? "no GPU operations"
                  : !join.calls_recorded             ? "no CUDA calls were recorded"
                                                     : "their calls were not recorded");
  }
}

void ReportWriter::Device(const DeviceFigures& found, const HostActivities& activities,
                          proto::DeviceReport& to) const {
  to.set_source(static_cast<int>(found.rank_index));
  SetIf(found.rank->rank, [&](int v) { to.set_rank(v); });
  to.set_ordinal(found.device->ordinal);
  to.set_label(found.label);
  to.set_name(found.device->name);
  if (const GpuSpec* spec = FindGpuSpec(found.device->name)) Peaks(*spec, *to.mutable_peaks());
  WindowOf(found.window, *to.mutable_window());
  PartitionOf(found.partition, *to.mutable_partition());
  WaterfallBlock(found, *to.mutable_waterfall());
  CaptureGaps(found, to);
  Causes(found.gaps.causes, *to.mutable_idle_causes());
  for (const Gap& gap : found.gaps.longest) GapOf(found, gap, activities, *to.add_longest_gaps());
  Kernels(found.kernels.Finish(), to);
  CountersOf({&found}, to);
  FindingsOf(found.findings, *to.mutable_kernel_findings());
  Copies(found.copies, to);
  NcclOf({&found}, *to.mutable_nccl());
  LinksOf(found, to);
  ProductsOf(found.products, found.attention, found.step_flops, *to.mutable_matrix_products());
  if (found.samples) SamplesOf(*found.samples, *to.mutable_samples());
  if (found.device->allocator.size() > 0)
    AllocatorOf(found.device->allocator, *to.mutable_allocator());
  if (found.telemetry)
    WriteTelemetry(*found.rank, found.device->ordinal, *found.telemetry, *to.mutable_telemetry());
  if (found.device->counters.size() > 0)
    WriteCounterSampling(found.device->counters, *to.mutable_counter_sampling());
  if (found.counters.covered_ns > 0)
    WriteMeasuredUse(found.counters, found.partition.wall_ns, found.measured_hfu,
                     *to.mutable_measured_use());
  if (found.rank->memory.size() > 0) MemoryOf(found.memory, *to.mutable_memory_calls());
  if (options_.memory) SamplesOfMemory(found, to);
  if (options_.device_samples) WriteDeviceSamples(found.device->samples, found.hull(), origin_, to);
  JoinOf(found.join, *to.mutable_join());
}

void ReportWriter::RunSums(const std::deque<DeviceFigures>& devices, proto::Run& to) const {
  to.set_origin_unix_ns(run_.base_ns + origin_);
  to.set_process_count(static_cast<int>(run_.ranks.size()));
  to.set_device_count(static_cast<int>(devices.size()));
  if (devices.empty()) return JoinOf(JoinRate{}, *to.mutable_join());

  Window window = devices.front().window;
  Partition partition;
  IdleCauses causes;
  KernelCounter kernels;
  std::vector<std::vector<KernelFinding>> findings;
  std::vector<std::vector<CopyStats>> copies;
  std::vector<const DeviceFigures*> all;
  std::vector<MatrixProducts> products;
  std::vector<MemoryCalls> memory;
  AttentionCalls attention;
  std::vector<std::optional<StepFlops>> step_flops;
  JoinRate join;
  for (const DeviceFigures& found : devices) {
    window.time.start = std::min(window.time.start, found.window.time.start);
    window.time.end = std::max(window.time.end, found.window.time.end);
    window.restricted |= found.window.restricted;
    partition += found.partition;
    causes += found.gaps.causes;
    kernels.Add(found.kernels);
    findings.push_back(found.findings);
    copies.push_back(found.copies);
    all.push_back(&found);
    products.push_back(found.products);
    if (found.rank->memory.size() > 0) memory.push_back(found.memory);
    attention += found.attention;
    step_flops.push_back(found.step_flops);
    join += found.join;
  }
  WindowOf(window, *to.mutable_window());
  PartitionOf(partition, *to.mutable_partition());
  SetSpread(devices, &Partition::compute_ns, *to.mutable_compute_share());
  SetSpread(devices, &Partition::exposed_communication_ns,
            *to.mutable_exposed_communication_share());
  SetSpread(devices, &Partition::exposed_copy_ns, *to.mutable_exposed_copy_share());
  SetSpread(devices, &Partition::idle_ns, *to.mutable_idle_share());
  SetBusySpread(devices, *to.mutable_busy_share());
  Causes(causes, *to.mutable_idle_causes());
  const KernelTable table = kernels.Finish();
  Kernels(table, to);
  CountersOf(all, to);
  FindingsOf(MergeFindings(findings, table.total_ns), *to.mutable_kernel_findings());
  Copies(MergeCopies(copies), to);
  NcclOf(all, *to.mutable_nccl());
  TransportsOf(*to.mutable_nccl());
  ProductsOf(MergeMatrixProducts(products), attention, SumOfDevices(step_flops),
             *to.mutable_matrix_products());
  if (const auto samples = SumOfSamples(devices)) SamplesOf(*samples, *to.mutable_samples());
  if (!memory.empty()) MemoryOf(MergeMemoryCalls(memory), *to.mutable_memory_calls());
  JoinOf(join, *to.mutable_join());
  if (!options_.memory) return;
  AllocationCounter allocations;
  for (const ProcessWindow& process : ProcessWindows(devices))
    allocations.Add(*process.rank, process.times);
  for (const AllocationCalls& calls : allocations.Finish()) {
    proto::AllocationCalls& one = *to.add_allocation_calls();
    one.set_api(calls.api);
    one.set_count(calls.count);
    one.set_failed(calls.failed);
    one.set_total_ns(calls.total_ns);
    one.set_max_ns(calls.max_ns);
    SetIf(calls.bytes, [&](std::int64_t v) { one.set_bytes(v); });
  }
}

void ReportWriter::DataLoaders(const std::deque<DeviceFigures>& devices, Report& to) const {
  for (const ProcessWindow& process : ProcessWindows(devices)) {
    for (const LoaderUse& use : UseOfLoaders(*process.rank, process.hull())) {
      proto::DataLoader& one = *to.add_data_loaders();
      one.set_source(static_cast<int>(process.rank_index));
      LoaderOf(*process.rank, use, one);
    }
  }
}

void ReportWriter::NvtxRanges(const std::deque<DeviceFigures>& devices, Report& to) const {
  NvtxProjector projector;
  for (auto first = devices.begin(); first != devices.end();) {
    std::vector<ProjectedDevice> of_rank;
    const Rank& rank = *first->rank;
    for (; first != devices.end() && first->rank == &rank; ++first)
      of_rank.push_back(
          {first->device, first->ranges, first->times,
           first->window.restricted || first->times != Intervals{first->window.time}});
    projector.Add(rank, of_rank);
  }
  for (const NvtxRangeWork& range : projector.Finish()) {
    proto::NvtxRange& one = *to.add_nvtx_ranges();
    one.set_name(range.name);
    one.set_domain(range.domain);
    one.set_outside(range.outside);
    one.set_count(range.count);
    one.set_host_total_ns(range.host_total_ns);
    one.set_host_self_ns(range.host_self_ns);
    one.set_gpu_total_ns(range.total.gpu_ns);
    one.set_gpu_self_ns(range.self.gpu_ns);
    one.set_kernels_total(range.total.kernels);
    one.set_kernels_self(range.self.kernels);
  }
}

void ReportWriter::MfuBlock(const Mfu& mfu, proto::Mfu& to) const {
  to.set_requested(options_.mfu.requested());
  SetIf(mfu.percent, [&](double v) { to.set_mfu_percent(v); });
  to.set_reason(mfu.reason);
  to.set_convention(mfu.convention);
  SetIf(mfu.flops_per_step, [&](double v) { to.set_flops_per_step(v); });
  SetIf(mfu.steps, [&](std::int64_t v) { to.set_steps(v); });
  to.set_steps_source(mfu.steps_source);
  to.set_window_ns(mfu.window_ns);
  to.set_devices(mfu.devices);
  to.set_peak_dtype(std::string(PeakDtypeName(options_.mfu.peak_dtype)));
  SetIf(mfu.peak_tflops_per_device, [&](double v) { to.set_peak_tflops_per_device(v); });
  to.set_peak_source(mfu.peak_source);
  SetIf(mfu.achieved_tflops_per_device, [&](double v) { to.set_achieved_tflops_per_device(v); });
  SetIf(mfu.percent_at_clock, [&](double v) { to.set_percent_at_clock(v); });
  SetIf(mfu.busy_sm_clock_mhz, [&](double v) { to.set_busy_sm_clock_mhz(v); });
  SetIf(mfu.rated_sm_clock_mhz, [&](double v) { to.set_rated_sm_clock_mhz(v); });
}

}  // namespace traceinject
