// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/finish/sort_rank.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analyzer/common/parallel.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

// Whose operations were put into `order`.
void SortPlans(const RowOrder& order, CollectivePlans& plans) {
  if (!order.empty()) {
    const std::vector<std::uint32_t> before = order.rows();
    std::vector<std::uint32_t> now(before.size());
    for (std::uint32_t row = 0; row < before.size(); ++row) now[before[row]] = row;
    for (std::uint32_t& collective : plans.collective) collective = now[collective];
  }
  std::vector<std::uint32_t> rows(plans.size());
  for (std::uint32_t row = 0; row < rows.size(); ++row) rows[row] = row;
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(plans.collective[a], plans.time[a]) <
           std::pair(plans.collective[b], plans.time[b]);
  });
  ApplyOrder(rows, plans.collective, plans.time, plans.thread, plans.sequence, plans.count,
             plans.datatype, plans.algorithm, plans.protocol, plans.channels, plans.warps,
             plans.launch_start, plans.launch_end);
}

// Few, and in order unless the clock was set back.
template <typename... Columns>
void SortByTime(std::vector<TimeNs>& time, Columns&... columns) {
  ApplyOrder(SortedOrder(time, time), time, columns...);
}

void SortSamples(Device& device) {
  DeviceSamples& fast = device.samples;
  SortByTime(fast.time, fast.sm_clock_mhz, fast.memory_clock_mhz, fast.power_mw, fast.temperature_c,
             fast.throttle_reasons, fast.sm_utilisation_pct, fast.memory_utilisation_pct,
             fast.memory_used_bytes);
  DeviceSlowSamples& slow = device.slow_samples;
  SortByTime(slow.time, slow.pcie_generation, slow.pcie_width, slow.pcie_tx_bytes_s,
             slow.pcie_rx_bytes_s, slow.pcie_replays, slow.nvlink_tx_bytes, slow.nvlink_rx_bytes,
             slow.nvlink_replays, slow.nvlink_recoveries, slow.nvlink_crc_errors,
             slow.ecc_corrected, slow.ecc_uncorrected);
  AllocatorSamples& allocator = device.allocator;
  SortByTime(allocator.time, allocator.allocated_bytes, allocator.reserved_bytes,
             allocator.active_bytes, allocator.peak_allocated_bytes, allocator.peak_reserved_bytes,
             allocator.retries, allocator.ooms);
}

void SortSamples(Rank& rank) {
  HostSamples& threads = rank.host_samples;
  SortByTime(threads.time, threads.thread, threads.cpu_ns, threads.runqueue_ns,
             threads.minor_faults, threads.major_faults, threads.voluntary_switches,
             threads.involuntary_switches);
  WorkerSamples& workers = rank.worker_samples;
  SortByTime(workers.time, workers.worker, workers.cpu_ns, workers.read_bytes, workers.states,
             workers.states_disk);
  StackSamples& stacks = rank.stack_samples;
  SortByTime(stacks.time, stacks.thread, stacks.stack, stacks.kind, stacks.correlation,
             stacks.repeats, stacks.span);
}

}  // namespace

void SortRank(Rank& rank) {
  std::sort(rank.devices.begin(), rank.devices.end(),
            [](const Device& a, const Device& b) { return a.ordinal < b.ordinal; });
  // Each sorts a table of its own; the longest come first.
  std::vector<std::function<void()>> sorts = {[&api = rank.api] {
    ApplyOrder(SortedOrder(api.start, api.end), api.start, api.end, api.thread, api.name,
               api.correlation, api.result);
  }};
  for (Device& device : rank.devices) {
    sorts.push_back([&ops = device.ops] {
      ApplyOrder(SortedOrder(ops.start, ops.end), ops.start, ops.end, ops.kind, ops.kernel_class,
                 ops.stream, ops.detail, ops.correlation, ops.graph_node);
    });
    SortSamples(device);
  }
  SortSamples(rank);
  sorts.push_back([&syncs = rank.syncs] {
    ApplyOrder(SortedOrder(syncs.start, syncs.end), syncs.start, syncs.end, syncs.thread,
               syncs.kind, syncs.event, syncs.stream);
  });
  sorts.push_back([&nvtx = rank.nvtx] {
    ApplyOrder(SortedOrder(nvtx.start, nvtx.end), nvtx.start, nvtx.end, nvtx.thread, nvtx.kind,
               nvtx.domain, nvtx.text, nvtx.category);
  });
  sorts.push_back([&ranges = rank.profiled] {
    ApplyOrder(SortedOrder(ranges.start, ranges.end), ranges.start, ranges.end, ranges.thread,
               ranges.kind, ranges.name, ranges.input_shapes, ranges.sequence,
               ranges.forward_thread);
  });
  sorts.push_back([&calls = rank.collectives, &plans = rank.plans] {
    const RowOrder order = SortedOrder(calls.start, calls.end);
    ApplyOrder(order, calls.start, calls.end, calls.thread, calls.function, calls.communicator,
               calls.bytes, calls.reduction, calls.peer, calls.root);
    SortPlans(order, plans);
  });
  sorts.push_back([&gemms = rank.gemms] {
    ApplyOrder(SortedOrder(gemms.start, gemms.end), gemms.start, gemms.end, gemms.thread,
               gemms.shape);
  });
  sorts.push_back([&memory = rank.memory] {
    ApplyOrder(SortedOrder(memory.time, memory.time), memory.time, memory.device, memory.release,
               memory.memory_kind, memory.bytes, memory.address, memory.correlation);
  });
  sorts.push_back([&attentions = rank.attentions] {
    ApplyOrder(SortedOrder(attentions.start, attentions.end), attentions.start, attentions.end,
               attentions.thread, attentions.shape, attentions.backward, attentions.gradient);
  });
  sorts.push_back([&waits = rank.data_waits] {
    ApplyOrder(SortedOrder(waits.start, waits.end), waits.start, waits.end, waits.thread,
               waits.loader, waits.batch, waits.samples);
  });
  sorts.push_back([&marks = rank.step_marks] {
    ApplyOrder(SortedOrder(marks.time, marks.time), marks.time, marks.thread, marks.optimizer);
  });
  sorts.push_back([&spans = rank.host_spans] {
    ApplyOrder(SortedOrder(spans.start, spans.end), spans.start, spans.end, spans.thread,
               spans.kind, spans.detail);
  });
  RunInParallel(sorts);
}

TimeNs LastTimeSeen(const Rank& rank) {
  TimeNs last = rank.start;
  const auto look = [&](const auto& start, const auto& end) {
    for (std::size_t i = 0; i < end.size(); ++i)
      last = std::max(last, end[i] == kOpen ? start[i] : end[i]);
  };
  for (const Device& device : rank.devices) look(device.ops.start, device.ops.end);
  look(rank.api.start, rank.api.end);
  look(rank.syncs.start, rank.syncs.end);
  look(rank.nvtx.start, rank.nvtx.end);
  look(rank.collectives.start, rank.collectives.end);
  look(rank.gemms.start, rank.gemms.end);
  look(rank.attentions.start, rank.attentions.end);
  look(rank.data_waits.start, rank.data_waits.end);
  look(rank.memory.time, rank.memory.time);
  look(rank.step_marks.time, rank.step_marks.time);
  look(rank.host_spans.start, rank.host_spans.end);
  look(rank.clocks.realtime, rank.clocks.realtime);  // also of one that stands still
  return last;
}

}  // namespace traceinject
