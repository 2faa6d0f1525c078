// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/counter_sets.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace traceinject {
namespace {

#define SHARE(name) name ".avg.pct_of_peak_sustained_elapsed"
#define SM_CLOCK "sm__cycles_elapsed.avg.per_second"
#define TPC(name) SHARE("TPC.TriageCompute." name)
#define L2_HIT "LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct"
#define PCI(name) SHARE("PCI.TriageCompute." name)

// One array of several.
template <std::size_t... N>
constexpr auto Join(const CounterMetric (&... parts)[N]) {
  std::array<CounterMetric, (N + ...)> all{};
  std::size_t next = 0;
  const auto add = [&](const auto& part) {
    for (const CounterMetric& metric : part) all[next++] = metric;
  };
  (add(parts), ...);
  return all;
}

template <std::size_t kLast, typename Metrics>
constexpr std::span<const CounterMetric> WithoutLast(const Metrics& metrics) {
  return std::span<const CounterMetric>(metrics).first(std::size(metrics) - kLast);
}

// Not every machine has these for us, and of some CUPTI says so late: so sets are tried without
// them, too.
constexpr CounterMetric kPcie[] = {
    {CounterId::kPcieRead, PCI("pcie__read_bytes")},
    {CounterId::kPcieWrite, PCI("pcie__write_bytes")},
};
constexpr CounterMetric kNvlink[] = {
    {CounterId::kNvlinkReceive, SHARE("nvlrx__bytes")},
    {CounterId::kNvlinkTransmit, SHARE("nvltx__bytes")},
};

// GH100: H100, H200, GH200. "basic" is what an H200 was seen to take. Not of them is
// tpc__warps_active_realtime: on an H100 it read twice the share of warps up to half of them, as
// Nsight Compute has it, and less and less with more: 71.7 % at 60.7, 23.0 at 86.3, 7.1 at 94.0.
constexpr CounterMetric kHopperCompute[] = {
    {CounterId::kSmActive, TPC("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kTensorActive, TPC("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kTensorHmma, TPC("sm__pipe_tensor_op_hmma_cycles_active_realtime")},
    {CounterId::kTensorImma, TPC("sm__pipe_tensor_op_imma_cycles_active_realtime")},
    {CounterId::kFp64, TPC("sm__pipe_fp64_cycles_active_realtime")},
    {CounterId::kFp32, TPC("sm__inst_executed_pipe_fma_realtime")},
    {CounterId::kDramRead, SHARE("dram__read_throughput")},
    {CounterId::kDramWrite, SHARE("dram__write_throughput")},
    {CounterId::kL2Hit, L2_HIT},
};
constexpr auto kHopperFull = Join(kHopperCompute, kPcie, kNvlink);
constexpr auto kHopperNvlink = Join(kHopperCompute, kNvlink);
constexpr CounterMetric kHopperPipes[] = {
    {CounterId::kSmActive, TPC("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kTensorActive, TPC("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kTensorHmma, TPC("sm__pipe_tensor_op_hmma_cycles_active_realtime")},
    {CounterId::kTensorImma, TPC("sm__pipe_tensor_op_imma_cycles_active_realtime")},
    {CounterId::kFp64, TPC("sm__pipe_fp64_cycles_active_realtime")},
    {CounterId::kFp32, TPC("sm__inst_executed_pipe_fma_realtime")},
    {CounterId::kDram, SHARE("dram__throughput")},
};
constexpr CounterMetric kHopperBasic[] = {
    {CounterId::kSmActive, TPC("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kTensorHmma, TPC("sm__pipe_tensor_op_hmma_cycles_active_realtime")},
    {CounterId::kDram, SHARE("dram__throughput")},
};

// GB100, GB102: B200, GB200. GB110, B300, has no FP64 pipe to be sampled.
constexpr CounterMetric kBlackwellCompute[] = {
    {CounterId::kSmActive, TPC("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kWarpsActive, TPC("tpc__warps_active_shader_cs_realtime")},
    {CounterId::kTensorActive, TPC("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kTensorHmma, TPC("sm__pipe_tensor_subpipe_hmma_cycles_active_realtime")},
    {CounterId::kTensorImma, TPC("sm__pipe_tensor_subpipe_imma_cycles_active_realtime")},
    {CounterId::kFp32, TPC("sm__pipe_fma_cycles_active_realtime")},
    {CounterId::kDramRead, SHARE("dram__read_throughput")},
    {CounterId::kDramWrite, SHARE("dram__write_throughput")},
    {CounterId::kL2Hit, L2_HIT},
};
constexpr auto kBlackwellFull = Join(kBlackwellCompute, kPcie, kNvlink);
constexpr auto kBlackwellNvlink = Join(kBlackwellCompute, kNvlink);
constexpr CounterMetric kBlackwellBasic[] = {
    {CounterId::kSmActive, TPC("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kTensorActive, TPC("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kDram, SHARE("dram__throughput")},
};

// GA100: A100.
constexpr CounterMetric kAmpereFull[] = {
    {CounterId::kSmActive, SHARE("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kWarpsActive, SHARE("tpc__warps_active_realtime")},
    {CounterId::kTensorActive, SHARE("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kFp32, SHARE("sm__inst_executed_pipe_fma_realtime")},
    {CounterId::kDramRead, SHARE("dram__read_throughput")},
    {CounterId::kDramWrite, SHARE("dram__write_throughput")},
    {CounterId::kPcieRead, SHARE("pcie__read_bytes")},
    {CounterId::kPcieWrite, SHARE("pcie__write_bytes")},
    {CounterId::kNvlinkReceive, SHARE("nvlrx__bytes")},
    {CounterId::kNvlinkTransmit, SHARE("nvltx__bytes")},
};
constexpr auto kAmpereCompute = std::span(kAmpereFull).first<7>();

// Chips of workstation, server and game cards: GA10x, AD10x, GB20x.
constexpr CounterMetric kGraphicsFull[] = {
    {CounterId::kSmActive, SHARE("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kTensorActive, SHARE("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kWarpsActive, SHARE("tpc__warps_active_realtime")},
    {CounterId::kDramRead, SHARE("dram__read_throughput")},
    {CounterId::kDramWrite, SHARE("dram__write_throughput")},
    {CounterId::kPcieRead, SHARE("pcie__read_bytes")},
    {CounterId::kPcieWrite, SHARE("pcie__write_bytes")},
};
constexpr auto kGraphicsCompute = std::span(kGraphicsFull).first<6>();
constexpr CounterMetric kGraphicsBasic[] = {
    {CounterId::kSmActive, SHARE("sm__cycles_active")},
    {CounterId::kSmClock, SM_CLOCK},
    {CounterId::kTensorActive, SHARE("sm__pipe_tensor_cycles_active_realtime")},
    {CounterId::kDram, SHARE("dram__throughput")},
};

// Chips that share the memory of the processor: Orin, Spark, Thor.
constexpr auto kSharedMemoryBasic = std::span(kGraphicsBasic).first<3>();

// Turing: T4 and its kin. With the device memory it takes two passes.
constexpr auto kTuringBasic = std::span(kGraphicsBasic).first<2>();

#undef PCI
#undef L2_HIT
#undef TPC
#undef SM_CLOCK
#undef SHARE

struct Row {
  std::string_view chips;  // by spaces
  CounterSet set;
};

constexpr std::string_view kBlackwell = "GB100 GB102 GB110";
constexpr std::string_view kGraphics =
    "GA102 GA103 GA104 GA106 GA107 AD102 AD103 AD104 AD106 AD107 GB202 GB203 GB205 GB206 GB207";

constexpr Row kRows[] = {
    {"GH100", {"full", kHopperFull}},
    {"GH100", {"full", WithoutLast<std::size(kNvlink)>(kHopperFull)}},
    {"GH100", {"full", kHopperNvlink}},
    {"GH100", {"compute", kHopperCompute}},
    {"GH100", {"pipes", kHopperPipes}},
    {"GH100", {"basic", kHopperBasic}},
    {kBlackwell, {"full", kBlackwellFull}},
    {kBlackwell, {"full", WithoutLast<std::size(kNvlink)>(kBlackwellFull)}},
    {kBlackwell, {"full", kBlackwellNvlink}},
    {kBlackwell, {"compute", kBlackwellCompute}},
    {kBlackwell, {"basic", kBlackwellBasic}},
    {"GA100", {"full", kAmpereFull}},
    {"GA100", {"full", WithoutLast<std::size(kNvlink)>(kAmpereFull)}},
    {"GA100", {"compute", kAmpereCompute}},
    {"GA100", {"basic", kGraphicsBasic}},
    {kGraphics, {"full", kGraphicsFull}},
    {kGraphics, {"compute", kGraphicsCompute}},
    {kGraphics, {"basic", kGraphicsBasic}},
    {"GA10B GB10B GB20B", {"basic", kSharedMemoryBasic}},
    {"TU102 TU104 TU106 TU116 TU117", {"basic", kTuringBasic}},
};

// cupti_pmsampling.h: GPU_TIME_INTERVAL is for GA10x and later, and not for Turing and GA100.
constexpr std::string_view kByCycles = "GA100 TU102 TU104 TU106 TU116 TU117";

bool IsAmong(std::string_view word, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

// nvml.h of driver 550 to 580, nvmlGpmMetricId_t.
constexpr GpmMetric kGpmMetrics[] = {
    {CounterId::kGraphicsActive, 1, "GRAPHICS_UTIL", 10},
    {CounterId::kSmActive, 2, "SM_UTIL", 10},
    {CounterId::kWarpsActive, 3, "SM_OCCUPANCY", 10},
    {CounterId::kInteger, 4, "INTEGER_UTIL", 10},
    {CounterId::kTensorActive, 5, "ANY_TENSOR_UTIL", 10},
    {CounterId::kTensorDfma, 6, "DFMA_TENSOR_UTIL", 10},
    {CounterId::kTensorHmma, 7, "HMMA_TENSOR_UTIL", 10},
    {CounterId::kTensorImma, 9, "IMMA_TENSOR_UTIL", 10},
    {CounterId::kDram, 10, "DRAM_BW_UTIL", 10},
    {CounterId::kFp64, 11, "FP64_UTIL", 10},
    {CounterId::kFp32, 12, "FP32_UTIL", 10},
    {CounterId::kFp16, 13, "FP16_UTIL", 10},
    {CounterId::kPcieTransmitRate, 20, "PCIE_TX_PER_SEC", 1},
    {CounterId::kPcieReceiveRate, 21, "PCIE_RX_PER_SEC", 1},
    {CounterId::kNvlinkReceiveRate, 60, "NVLINK_TOTAL_RX_PER_SEC", 1},
    {CounterId::kNvlinkTransmitRate, 61, "NVLINK_TOTAL_TX_PER_SEC", 1},
};

}  // namespace

std::vector<CounterSet> CounterSetsOf(std::string_view chip) {
  std::vector<CounterSet> sets;
  for (const Row& row : kRows) {
    if (IsAmong(chip, row.chips)) sets.push_back(row.set);
  }
  return sets;
}

bool SamplesByTime(std::string_view chip) { return !IsAmong(chip, kByCycles); }

// FNV-1a.
std::uint64_t HashOf(const CounterSet& set) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  for (const CounterMetric& metric : set.metrics) {
    mix(metric.metric);
    mix(" ");
  }
  return hash;
}

std::span<const GpmMetric> GpmMetrics() { return kGpmMetrics; }

}  // namespace traceinject
