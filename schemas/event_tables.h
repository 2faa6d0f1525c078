// SPDX-License-Identifier: Apache-2.0
// The tables of run_db.sql that grow with a run, one line each: rows are appended as events are
// over. The recorder makes its statements from it, counts, and removes rows; the analyzer reads
// columns that are named here, and finds the last rows.
#pragma once

#include <cstddef>
#include <string_view>

#include "schemas/health_counters.h"

namespace traceinject {

enum class EventTable : std::size_t {
  kKernel,
  kMemcpy,
  kMemset,
  kMemoryOperation,
  kApi,
  kSync,
  kNvtx,
  kCollective,
  kCollectivePlan,
  kGemm,
  kAttention,
  kDataWait,
  kStepMark,
  kHostSpan,
  kDeviceSample,
  kDeviceSlowSample,
  kCounterSample,
  kAllocatorSample,
  kHostSample,
  kWorkerSample,
  kStackSample,
  kClockPair,
  kCaptureGap,
  kCount
};
inline constexpr std::size_t kEventTables = static_cast<std::size_t>(EventTable::kCount);

struct EventTableInfo {
  std::string_view name;
  std::string_view columns;  // as they are written; first "rowid" or "id": rows may be replaced
  int since;                 // the version of the schema that has it
  // SQL: when a row's event was over, and so about when it was stored. Empty: rows are few.
  std::string_view ended;
  bool tells_the_end;  // of the recording: written within a second or two
  // What counts rows that were written, lost, and removed; Health::kCount: nothing.
  Health stored, dropped, expired;
};

inline constexpr std::string_view kEndOfRow = "start + ifnull(dur, 0)", kTimeOfRow = "time";
inline constexpr Health kNotCounted = Health::kCount;

// By EventTable.
inline constexpr EventTableInfo kEventTableInfos[] = {
    {"kernel", "start, dur, stream, shape, correlation, graph_node", 1, kEndOfRow, true,
     Health::kKernelStored, Health::kKernelDropped, Health::kKernelExpired},
    {"memcpy",
     "start, dur, stream, kind, src_kind, dst_kind, async, bytes, correlation, graph_node, "
     "src_device, dst_device",
     1, kEndOfRow, true, Health::kMemcpyStored, Health::kMemcpyDropped, Health::kMemcpyExpired},
    {"memset", "start, dur, stream, value, memory_kind, bytes, correlation, graph_node", 1,
     kEndOfRow, true, Health::kMemsetStored, Health::kMemsetDropped, Health::kMemsetExpired},
    {"memory_operation",
     "time, proc, device, kind, memory_kind, bytes, address, stream, pool, correlation", 3,
     kTimeOfRow, false, Health::kMemoryStored, Health::kMemoryDropped, Health::kMemoryExpired},
    {"api", "start, dur, thread, name, correlation, result", 1, kEndOfRow, true, Health::kApiStored,
     Health::kApiDropped, Health::kApiExpired},
    {"sync", "start, dur, thread, kind, event, stream", 1, kEndOfRow, false, Health::kSyncStored,
     Health::kSyncDropped, Health::kSyncExpired},
    {"nvtx", "rowid, start, dur, thread, kind, domain, text, category, color, payload", 1,
     kEndOfRow, false, Health::kNvtxStored, Health::kNvtxDropped, Health::kNvtxExpired},
    {"collective", "id, start, dur, thread, function, communicator, bytes, reduction, peer, root",
     1, kEndOfRow, false, Health::kNcclStored, Health::kNcclDropped, Health::kNcclExpired},
    {"collective_plan",
     "collective, time, thread, sequence, count, datatype, algorithm, protocol, channels, warps, "
     "launch_start, launch_dur",
     3, kTimeOfRow, false, Health::kNcclPluginStored, Health::kNcclPluginDropped,
     Health::kNcclPluginExpired},
    {"gemm", "start, dur, thread, shape", 3, kEndOfRow, false, Health::kGemmStored,
     Health::kGemmDropped, Health::kGemmExpired},
    {"attention", "start, dur, thread, shape, direction, gradient", 3, kEndOfRow, false,
     Health::kAttentionStored, Health::kAttentionDropped, Health::kAttentionExpired},
    {"data_wait", "start, dur, thread, loader, batch, samples", 2, kEndOfRow, false,
     Health::kDataWaitStored, Health::kDataWaitDropped, Health::kDataWaitExpired},
    {"step_mark", "time, thread, optimizer", 2, kTimeOfRow, false, Health::kStepMarkStored,
     Health::kStepMarkDropped, Health::kStepMarkExpired},
    {"host_span", "start, dur, thread, kind, detail", 2, kEndOfRow, false, Health::kHostSpanStored,
     Health::kHostSpanDropped, Health::kHostSpanExpired},
    {"device_sample",
     "time, proc, device, sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c, "
     "throttle_reasons, sm_utilisation_pct, memory_utilisation_pct, memory_used_bytes",
     3, kTimeOfRow, false, Health::kDeviceSampleStored, Health::kDeviceSampleDropped,
     Health::kDeviceSampleExpired},
    {"device_slow_sample",
     "time, proc, device, pcie_generation, pcie_width, pcie_tx_bytes_s, pcie_rx_bytes_s, "
     "pcie_replays, nvlink_tx_bytes, nvlink_rx_bytes, nvlink_replays, nvlink_recoveries, "
     "nvlink_crc_errors, ecc_corrected, ecc_uncorrected",
     3, kTimeOfRow, false, Health::kDeviceSampleStored, Health::kDeviceSampleDropped,
     Health::kDeviceSampleExpired},
    {"counter_sample", "start, dur, proc, device, counter_set, samples, gpu_time, lead, lag, data",
     8, kEndOfRow, false, Health::kCounterSampleStored, Health::kCounterSampleDropped,
     Health::kCounterSampleExpired},
    {"allocator_sample",
     "time, proc, device, allocated_bytes, reserved_bytes, active_bytes, peak_allocated_bytes, "
     "peak_reserved_bytes, retries, ooms",
     3, kTimeOfRow, false, Health::kAllocatorSampleStored, Health::kAllocatorSampleDropped,
     Health::kAllocatorSampleExpired},
    {"host_sample",
     "time, thread, cpu_ns, runqueue_ns, minor_faults, major_faults, voluntary_switches, "
     "involuntary_switches",
     3, kTimeOfRow, false, Health::kHostSampleStored, Health::kHostSampleDropped,
     Health::kHostSampleExpired},
    {"worker_sample", "time, worker, cpu_ns, read_bytes, states, states_disk", 3, kTimeOfRow, false,
     Health::kWorkerSampleStored, Health::kWorkerSampleDropped, Health::kWorkerSampleExpired},
    {"stack_sample", "time, thread, stack, kind, correlation, repeats, span", 6, kTimeOfRow, false,
     Health::kStackStored, Health::kStackDropped, Health::kStackExpired},
    {"clock_pair", "proc, realtime, monotonic, monotonic_raw, boottime, cupti", 1, "", false,
     kNotCounted, kNotCounted, kNotCounted},
    {"capture_gap", "rowid, start, dur, proc, reason", 1, "", false, kNotCounted, kNotCounted,
     kNotCounted},
};
static_assert(sizeof kEventTableInfos / sizeof *kEventTableInfos == kEventTables);

// Beside these, what threads did by the trace of another profiler: of files that analyze import
// made, which no recorder writes.
inline constexpr std::string_view kProfilerRangeTable = "profiler_range";

constexpr const EventTableInfo& InfoOf(EventTable table) {
  return kEventTableInfos[static_cast<std::size_t>(table)];
}

// Takes the first name off a list of columns, and gives it.
constexpr std::string_view TakeColumn(std::string_view* columns) {
  constexpr std::string_view kBetween = ", ";
  const std::size_t end = columns->find(kBetween);
  const std::string_view column = columns->substr(0, end);
  columns->remove_prefix(end == std::string_view::npos ? columns->size() : end + kBetween.size());
  return column;
}

constexpr bool HasColumn(EventTable table, std::string_view column) {
  std::string_view columns = InfoOf(table).columns;
  while (!columns.empty()) {
    if (TakeColumn(&columns) == column) return true;
  }
  return false;
}

}  // namespace traceinject
