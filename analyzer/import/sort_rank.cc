// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/sort_rank.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "analyzer/common/parallel.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {
namespace {

// Whose operations were put into `order`.
void SortPlans(const std::vector<std::uint32_t>& order, CollectivePlans& plans) {
  if (!order.empty()) {
    std::vector<std::uint32_t> now(order.size());
    for (std::uint32_t row = 0; row < order.size(); ++row) now[order[row]] = row;
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
  }
  sorts.push_back([&syncs = rank.syncs] {
    ApplyOrder(SortedOrder(syncs.start, syncs.end), syncs.start, syncs.end, syncs.thread,
               syncs.kind, syncs.event, syncs.stream);
  });
  sorts.push_back([&nvtx = rank.nvtx] {
    ApplyOrder(SortedOrder(nvtx.start, nvtx.end), nvtx.start, nvtx.end, nvtx.thread, nvtx.kind,
               nvtx.domain, nvtx.text, nvtx.category);
  });
  sorts.push_back([&calls = rank.collectives, &plans = rank.plans] {
    const std::vector<std::uint32_t> order = SortedOrder(calls.start, calls.end);
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
  const auto look = [&](const std::vector<TimeNs>& start, const std::vector<TimeNs>& end) {
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
  return last;
}

}  // namespace traceinject
