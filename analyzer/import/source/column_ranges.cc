// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/column_ranges.h"

#include "schemas/event_tables.h"

namespace traceinject {
namespace {

constexpr std::int64_t kMany = (std::int64_t{1} << 31) - 1;      // of what is counted in 32 bits
constexpr std::int64_t kMoved = std::int64_t{1} << 40;           // bytes of one operation
constexpr std::int64_t kShared = 1 << 24;                        // bytes of a block
constexpr std::int64_t kMemory = std::int64_t{1} << 50;          // bytes of a machine's memory
constexpr std::int64_t kSinceStart = std::int64_t{1} << 60;      // of counters that only grow
constexpr std::int64_t kRanks = 1 << 24, kVersion = 10'000'000;  // 12.6 is 12060, 13.0.1 is 130001

struct TableRange {
  std::string_view table, columns;
  std::int64_t least, most;
};

// CUDA's limits where there are some, else more than any machine has.
constexpr TableRange kRanges[] = {
    {"process", "rank, local_rank, restart", 0, kRanks},
    {"process", "world_size, local_world_size", 1, kRanks},
    {"process", "driver_version, runtime_version, cupti_version, nccl_version", 0, kVersion},
    {"device", "sm_count, memory_bus_bits", 1, 1 << 16},
    {"device", "cc_major, cc_minor", 0, 99},
    {"device", "sm_clock_khz, memory_clock_khz", 1, 100'000'000},
    {"device", "memory_bytes, l2_bytes", 0, kMemory},
    {"kernel_shape", "grid_x, grid_y, grid_z", 0, kMany},
    {"kernel_shape", "block_x, block_y, block_z, cluster_x, cluster_y, cluster_z, registers", 0,
     1024},
    {"kernel_shape", "static_shared_bytes, dynamic_shared_bytes", 0, kShared},
    {"kernel_shape", "local_bytes", 0, kMany},
    {"memcpy", "bytes", 0, kMoved},
    {"memcpy", "kind, src_kind, dst_kind", 0, 255},
    {"memcpy", "src_device, dst_device", 0, 1023},
    {"memset", "bytes", 0, kMoved},
    {"memory_operation", "bytes", 0, kMemory},
    {"memory_operation", "memory_kind", 0, 255},
    {"communicator", "size", 1, kRanks},
    {"communicator", "rank, device, nodes", 0, kRanks},
    {"collective", "bytes", -1, kMoved},
    {"collective", "peer, root", 0, kRanks},
    {"collective_plan", "sequence", 0, kSinceStart},
    {"collective_plan", "count", 0, kMoved},
    {"collective_plan", "channels, warps", 0, 1024},
    {"nccl_setup", "rank, size, device, nodes", 0, kRanks},
    {"nccl_setup", "rings, trees, channels, nvls_channels, p2p_channels", 0, 1024},
    {"nccl_link", "rank, peer, net_device", 0, kRanks},
    {"nccl_link", "channels", 0, 1024},
    {"gemm_shape", "m, n, k, batch", 0, kMany},
    {"gemm_shape", "least_bytes", 0, kMoved},
    {"attention_shape",
     "batch, heads, kv_heads, query_length, key_length, head_size, value_head_size", 0, kMany},
    {"attention_shape", "causal", 0, 1},
    {"data_loader", "workers", 0, 1 << 16},
    {"data_loader", "prefetch_factor, batch_size", 0, kMany},
    {"data_wait", "batch, samples", 0, kMany},
    {"worker", "pid", 0, kMany},
    {"device_sample", "sm_clock_mhz, memory_clock_mhz", 0, 100'000},
    {"device_sample", "power_mw", 0, 1'000'000'000},
    {"device_sample", "temperature_c", 0, 1000},
    {"device_sample", "sm_utilisation_pct, memory_utilisation_pct", 0, 100},
    {"device_sample", "throttle_reasons", 0, kMany},
    {"device_sample", "memory_used_bytes", 0, kMemory},
    {"device_slow_sample", "pcie_generation, pcie_width", 0, 64},
    {"device_slow_sample", "pcie_tx_bytes_s, pcie_rx_bytes_s", 0, kMoved},
    {"device_slow_sample",
     "pcie_replays, nvlink_tx_bytes, nvlink_rx_bytes, nvlink_replays, nvlink_recoveries, "
     "nvlink_crc_errors, ecc_corrected, ecc_uncorrected",
     0, kSinceStart},
    {"allocator_sample",
     "allocated_bytes, reserved_bytes, active_bytes, peak_allocated_bytes, peak_reserved_bytes", 0,
     kMemory},
    {"allocator_sample", "retries, ooms", 0, kSinceStart},
    {"host_sample",
     "cpu_ns, runqueue_ns, minor_faults, major_faults, voluntary_switches, involuntary_switches", 0,
     kSinceStart},
    {"worker_sample", "cpu_ns, read_bytes", 0, kSinceStart},
    {"worker_sample", "states, states_disk", 0, kMany},
    {"stack_sample", "repeats", 0, kMany},
    {kProfilerRangeTable, "sequence, forward_thread", 0, kMany},
    {"code_place", "line, first_line", 0, kMany},
    {"health", "value", -kSinceStart, kSinceStart},
};

bool Holds(std::string_view columns, std::string_view column) {
  while (!columns.empty()) {
    if (TakeColumn(&columns) == column) return true;
  }
  return false;
}

}  // namespace

std::vector<ColumnRange> RangesOf(std::string_view table, std::string_view columns) {
  std::vector<ColumnRange> ranges;
  for (int index = 0; !columns.empty(); ++index) {
    const std::string_view column = TakeColumn(&columns);
    for (const TableRange& range : kRanges) {
      if (range.table == table && Holds(range.columns, column))
        ranges.push_back({column, index, range.least, range.most});
    }
  }
  return ranges;
}

std::int64_t MovedBytes(std::int64_t told) { return told >= 0 && told <= kMoved ? told : 0; }
std::int64_t SharedBytes(std::int64_t told) { return told >= 0 && told <= kShared ? told : 0; }

}  // namespace traceinject
