// SPDX-License-Identifier: Apache-2.0
// The hardware counters that a recording can carry, and the sets of them that can be asked for. The
// recorder stores them under these names (counter of run_db.sql), the analyzer finds them by these
// ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace traceinject {

enum class CounterId : std::uint8_t {
  kGraphicsActive,
  kSmActive,
  kSmClock,
  kWarpsActive,
  kTensorActive,
  kTensorHmma,
  kTensorImma,
  kTensorDfma,
  kFp64,
  kFp32,
  kFp16,
  kInteger,
  kDram,
  kDramRead,
  kDramWrite,
  kL2Hit,
  kPcieRead,
  kPcieWrite,
  kNvlinkReceive,
  kNvlinkTransmit,
  kPcieReceiveRate,
  kPcieTransmitRate,
  kNvlinkReceiveRate,
  kNvlinkTransmitRate,
  kCount
};
inline constexpr std::size_t kCounterIds = static_cast<std::size_t>(CounterId::kCount);

struct CounterInfo {
  std::string_view name;
  std::string_view unit;  // kPermille, kMegahertz, or kMibPerSecond
  std::string_view description;
};

// Of what the unit could do at most in the time of the sample, or of all cases.
inline constexpr std::string_view kPermille = "permille";
inline constexpr std::string_view kMegahertz = "MHz";
inline constexpr std::string_view kMibPerSecond = "MiB/s";

// By CounterId. All are of the whole GPU, whoever works on it.
inline constexpr CounterInfo kCounterInfos[] = {
    {"graphics_active", kPermille, "time in which the compute or graphics engine had work"},
    {"sm_active", kPermille, "time in which an SM had a warp, averaged over the SMs"},
    {"sm_clock", kMegahertz, "cycles of the SMs' clock in the time of the sample"},
    {"warps_active", kPermille, "warps on the SMs, of the most that fit: occupancy"},
    {"tensor_active", kPermille, "time in which a tensor core was busy"},
    {"tensor_hmma_active", kPermille, "the same with floating-point operands of 16 bits or fewer"},
    {"tensor_imma_active", kPermille, "the same with integers"},
    {"tensor_dfma_active", kPermille, "the same with FP64"},
    {"fp64_active", kPermille, "use of the FP64 pipe beside the tensor cores"},
    {"fp32_active", kPermille, "use of the FMA pipe, which does FP32"},
    {"fp16_active", kPermille, "use of the FP16 pipe beside the tensor cores"},
    {"integer_active", kPermille, "use of the integer pipe"},
    {"dram_active", kPermille, "use of the device memory's bandwidth"},
    {"dram_read", kPermille, "the same, for reading"},
    {"dram_write", kPermille, "the same, for writing"},
    {"l2_hit", kPermille, "accesses to the L2 cache that found their data there"},
    {"pcie_read", kPermille, "use of the PCIe link's bandwidth, data read"},
    {"pcie_write", kPermille, "the same, data written"},
    {"nvlink_receive", kPermille, "use of the bandwidth of all NVLinks, data received"},
    {"nvlink_transmit", kPermille, "the same, data sent"},
    {"pcie_receive_rate", kMibPerSecond, "data received over PCIe"},
    {"pcie_transmit_rate", kMibPerSecond, "data sent over PCIe"},
    {"nvlink_receive_rate", kMibPerSecond, "data received over all NVLinks"},
    {"nvlink_transmit_rate", kMibPerSecond, "data sent over all NVLinks"},
};
static_assert(sizeof kCounterInfos / sizeof *kCounterInfos == kCounterIds);

constexpr const CounterInfo& InfoOf(CounterId id) {
  return kCounterInfos[static_cast<std::size_t>(id)];
}

// Whether what a sample shows is the sum over what runs in it, each by its share of the time: of
// the hits of a cache it is not.
constexpr bool AddsUp(CounterId id) {
  return InfoOf(id).unit == kPermille && id != CounterId::kL2Hit;
}

// Nothing: a later version's.
constexpr std::optional<CounterId> FindCounter(std::string_view name) {
  for (std::size_t i = 0; i < kCounterIds; ++i) {
    if (kCounterInfos[i].name == name) return static_cast<CounterId>(i);
  }
  return std::nullopt;
}

// Sets of counters by name, the richest first; which metrics they are differs between chips.
inline constexpr std::string_view kCounterSetNames[] = {"full", "compute", "pipes", "basic"};
#define TRACEINJECT_COUNTER_SET_NAMES "full, compute, pipes, basic"

// As counter_set.source in run_db.sql.
inline constexpr std::string_view kPmSamplingSource = "pm_sampling", kGpmSource = "gpm";

}  // namespace traceinject
