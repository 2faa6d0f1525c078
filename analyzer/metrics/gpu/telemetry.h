// SPDX-License-Identifier: Apache-2.0
// What was sampled of a device while it worked: clocks, what held them down, power, temperature,
// memory, and the traffic and errors of its links.
//
// A sample stands for the time until the next one, or for kLongestSampleNs where that is shorter: a
// longer break is no knowledge. Means are over that time. "Busy" is time in which something ran on
// the device. Counters of the driver are differences between the first and the last sample in the
// window.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/metrics/idle/partition.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

inline constexpr TimeNs kLongestSampleNs = 2'000'000'000;

// Under the power cap a clock down to this share of the highest one is healthy.
inline constexpr double kPowerCapShare = 0.8;

// A bit of nvmlClocksEventReasons (nvml.h) that holds a clock down. Left out: idle (1), and the
// display's clock (256), which no computing card has.
struct ThrottleReason {
  std::int32_t bit;
  std::string_view name;
  bool heat_or_power;
  double healthy_share;  // of the highest clock: below, something is wrong; 0: nothing is
};
inline constexpr ThrottleReason kThrottleReasons[] = {
    {2, "application clocks", false, 1}, {4, "power cap", true, kPowerCapShare},
    {8, "hardware slowdown", true, 1},   {16, "sync boost", false, 0},
    {32, "software thermal", true, 1},   {64, "hardware thermal", true, 1},
    {128, "power brake", true, 1}};

struct SampledFigure {
  double least = 0, mean = 0, most = 0;
};

// One of the reasons for which a card lowers its clock (throttle_reasons of device_sample).
struct Throttle {
  std::string_view reason;
  TimeNs ns = 0, busy_ns = 0;
};

// What passed over a link in one direction, bytes per second: between two samples.
struct LinkTraffic {
  double mean_bytes_s = 0, most_bytes_s = 0;
};

struct Telemetry {
  std::int64_t samples = 0;
  TimeNs sampled_ns = 0, busy_ns = 0;  // of the window; busy: of the sampled time
  std::optional<SampledFigure> sm_clock_mhz, memory_clock_mhz, power_w, temperature_c;
  std::optional<SampledFigure> memory_used_bytes;
  std::optional<double> busy_sm_clock_mhz;  // mean over the busy time
  std::vector<Throttle> throttled;          // reasons that occurred, longest first
  TimeNs throttled_busy_ns = 0;             // any of them
  TimeNs slowed_busy_ns = 0;                // those of heat and power

  std::optional<int> pcie_generation, pcie_width;  // best that the link had
  std::optional<LinkTraffic> pcie_sent, pcie_received;
  std::optional<LinkTraffic> nvlink_sent, nvlink_received;
  // Of the window; absent: not reported.
  std::optional<std::int64_t> pcie_replays, nvlink_errors, ecc_corrected, ecc_uncorrected;
};

struct SweptDevice {
  Partition partition;
  std::optional<Telemetry> telemetry;  // empty: nothing was sampled in the window
};

// Of these windows together (at least one), both by one sweep: what is busy time to the one is to
// the other. Of the links, from the first to the last. O(windows log samples + operations).
SweptDevice SweepDevice(const Device& device, const Intervals& windows);

}  // namespace traceinject
