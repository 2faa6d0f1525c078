// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/gpu/telemetry.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "analyzer/metrics/idle/partition.h"

namespace traceinject {
namespace {

// What a sample stands for.
struct Part {
  std::size_t row;
  Interval time;
  TimeNs busy_ns;
};

std::vector<Part> PartsOf(const Device& device, const Intervals& windows) {
  std::vector<Part> parts;
  const std::vector<TimeNs>& time = device.samples.time;
  for (const Interval& window : windows) {
    const auto after = std::upper_bound(time.begin(), time.end(), window.start);
    const auto first = static_cast<std::size_t>(after - time.begin());
    for (std::size_t i = first == 0 ? 0 : first - 1; i < time.size() && time[i] < window.end; ++i) {
      const TimeNs until = i + 1 < time.size() ? time[i + 1] : window.end;
      const Interval part{std::max(time[i], window.start),
                          std::min({until, time[i] + kLongestSampleNs, window.end})};
      if (part.end > part.start) parts.push_back({i, part, 0});
    }
  }
  return parts;
}

// The moments at which parts and windows begin and end.
std::vector<TimeNs> CutsOf(const std::vector<Part>& parts, const Intervals& windows) {
  std::vector<TimeNs> cuts;
  for (const Part& part : parts) cuts.insert(cuts.end(), {part.time.start, part.time.end});
  for (const Interval& window : windows) cuts.insert(cuts.end(), {window.start, window.end});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

// Of values that are known (not below 0), each weighed by a time.
class Mean {
 public:
  void Add(double value, TimeNs weight_ns) {
    figure_.least = std::min(figure_.least, value);
    figure_.most = std::max(figure_.most, value);
    sum_ += value * static_cast<double>(weight_ns);
    weight_ += static_cast<double>(weight_ns);
  }
  std::optional<SampledFigure> Take() const {
    if (weight_ <= 0) return std::nullopt;
    SampledFigure figure = figure_;
    figure.mean = sum_ / weight_;
    return figure;
  }

 private:
  SampledFigure figure_{std::numeric_limits<double>::infinity(), 0, 0};
  double sum_ = 0, weight_ = 0;
};

template <typename Column>
std::optional<SampledFigure> FigureOf(const std::vector<Part>& parts, const Column& column,
                                      double unit) {
  Mean mean;
  for (const Part& part : parts) {
    const auto value = column[part.row];
    if (value >= 0) mean.Add(static_cast<double>(value) * unit, part.time.end - part.time.start);
  }
  return mean.Take();
}

void SetThrottling(const DeviceSamples& samples, const std::vector<Part>& parts, Telemetry& to) {
  for (const auto& [bit, reason, heat_or_power, healthy_share] : kThrottleReasons) {
    Throttle throttle{reason};
    for (const Part& part : parts) {
      const std::int32_t reasons = samples.throttle_reasons[part.row];
      if (reasons < 0 || (reasons & bit) == 0) continue;
      throttle.ns += part.time.end - part.time.start;
      throttle.busy_ns += part.busy_ns;
    }
    if (throttle.ns > 0) to.throttled.push_back(throttle);
  }
  std::stable_sort(to.throttled.begin(), to.throttled.end(),
                   [](const Throttle& a, const Throttle& b) { return a.ns > b.ns; });
  std::int32_t any = 0, slowing = 0;
  for (const ThrottleReason& reason : kThrottleReasons) {
    any |= reason.bit;
    if (reason.heat_or_power) slowing |= reason.bit;
  }
  for (const Part& part : parts) {
    const std::int32_t reasons = samples.throttle_reasons[part.row];
    if (reasons >= 0 && (reasons & any) != 0) to.throttled_busy_ns += part.busy_ns;
    if (reasons >= 0 && (reasons & slowing) != 0) to.slowed_busy_ns += part.busy_ns;
  }
}

// Rows of the slow samples in the window.
std::vector<std::size_t> SlowRows(const DeviceSlowSamples& samples, Interval window) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.time[i] >= window.start && samples.time[i] < window.end) rows.push_back(i);
  }
  return rows;
}

template <typename Column>
std::optional<int> MostOf(const std::vector<std::size_t>& rows, const Column& column) {
  int most = 0;
  for (const std::size_t row : rows) most = std::max(most, static_cast<int>(column[row]));
  return most > 0 ? std::optional<int>(most) : std::nullopt;
}

// Of samples that are rates already.
template <typename Column>
std::optional<LinkTraffic> TrafficOfRates(const std::vector<std::size_t>& rows,
                                          const Column& column) {
  Mean mean;
  for (const std::size_t row : rows) {
    if (column[row] >= 0) mean.Add(static_cast<double>(column[row]), 1);
  }
  const std::optional<SampledFigure> figure = mean.Take();
  if (!figure) return std::nullopt;
  return LinkTraffic{figure->mean, figure->most};
}

// Of a counter of the driver. It starts anew when the driver does: what it lost then is not known.
template <typename Column>
std::optional<LinkTraffic> TrafficOfCounter(const DeviceSlowSamples& samples,
                                            const std::vector<std::size_t>& rows,
                                            const Column& column) {
  double bytes = 0, seconds = 0, most = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::int64_t before = column[rows[i - 1]], now = column[rows[i]];
    const double elapsed =
        static_cast<double>(samples.time[rows[i]] - samples.time[rows[i - 1]]) * 1e-9;
    if (before < 0 || now < before || elapsed <= 0) continue;
    bytes += static_cast<double>(now - before);
    seconds += elapsed;
    most = std::max(most, static_cast<double>(now - before) / elapsed);
  }
  if (seconds <= 0) return std::nullopt;
  return LinkTraffic{bytes / seconds, most};
}

template <typename Column>
std::optional<std::int64_t> GrowthOf(const std::vector<std::size_t>& rows, const Column& column) {
  std::optional<std::int64_t> before;
  std::int64_t grown = 0;
  for (const std::size_t row : rows) {
    if (column[row] < 0) continue;
    if (before) grown += std::max<std::int64_t>(column[row] - *before, 0);
    before = column[row];
  }
  return before ? std::optional<std::int64_t>(grown) : std::nullopt;
}

void SetLinks(const DeviceSlowSamples& samples, Interval window, Telemetry& to) {
  const std::vector<std::size_t> rows = SlowRows(samples, window);
  to.pcie_generation = MostOf(rows, samples.pcie_generation);
  to.pcie_width = MostOf(rows, samples.pcie_width);
  to.pcie_sent = TrafficOfRates(rows, samples.pcie_tx_bytes_s);
  to.pcie_received = TrafficOfRates(rows, samples.pcie_rx_bytes_s);
  to.nvlink_sent = TrafficOfCounter(samples, rows, samples.nvlink_tx_bytes);
  to.nvlink_received = TrafficOfCounter(samples, rows, samples.nvlink_rx_bytes);
  to.pcie_replays = GrowthOf(rows, samples.pcie_replays);
  for (const auto* counter :
       {&samples.nvlink_replays, &samples.nvlink_recoveries, &samples.nvlink_crc_errors}) {
    if (const auto grown = GrowthOf(rows, *counter))
      to.nvlink_errors = to.nvlink_errors.value_or(0) + *grown;
  }
  to.ecc_corrected = GrowthOf(rows, samples.ecc_corrected);
  to.ecc_uncorrected = GrowthOf(rows, samples.ecc_uncorrected);
}

std::optional<Telemetry> Summarize(const Device& device, Interval window,
                                   const std::vector<Part>& parts) {
  const DeviceSamples& samples = device.samples;
  if (parts.empty()) return std::nullopt;
  Telemetry found;
  Mean busy_clock;
  std::size_t last = device.samples.size();
  for (const Part& part : parts) {
    found.samples += part.row != last ? 1 : 0;
    last = part.row;
    found.sampled_ns += part.time.end - part.time.start;
    found.busy_ns += part.busy_ns;
    const std::int32_t clock = samples.sm_clock_mhz[part.row];
    if (clock >= 0) busy_clock.Add(clock, part.busy_ns);
  }
  if (const auto clock = busy_clock.Take()) found.busy_sm_clock_mhz = clock->mean;
  found.sm_clock_mhz = FigureOf(parts, samples.sm_clock_mhz, 1);
  found.memory_clock_mhz = FigureOf(parts, samples.memory_clock_mhz, 1);
  found.power_w = FigureOf(parts, samples.power_mw, 1e-3);
  found.temperature_c = FigureOf(parts, samples.temperature_c, 1);
  found.memory_used_bytes = FigureOf(parts, samples.memory_used_bytes, 1);
  SetThrottling(samples, parts, found);
  SetLinks(device.slow_samples, window, found);
  return found;
}

}  // namespace

SweptDevice SweepDevice(const Device& device, const Intervals& windows) {
  SweptDevice swept;
  std::vector<Part> parts = PartsOf(device, windows);
  const std::vector<TimeNs> cuts = CutsOf(parts, windows);
  const std::vector<Partition> between = PartitionBetween(device.ops, cuts);
  for (std::size_t i = 0; i < between.size(); ++i) {
    if (Contains(windows, cuts[i])) swept.partition += between[i];
  }
  std::size_t cut = 0;
  for (Part& part : parts) {
    while (cuts[cut] < part.time.start) ++cut;
    part.busy_ns = between[cut].busy_ns();
  }
  swept.telemetry = Summarize(device, {windows.front().start, windows.back().end}, parts);
  return swept;
}

}  // namespace traceinject
