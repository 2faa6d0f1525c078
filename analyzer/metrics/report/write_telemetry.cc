// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/report/write_telemetry.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "analyzer/metrics/report/set_if.h"

namespace traceinject {
namespace {

void FigureOf(const std::optional<SampledFigure>& figure,
              proto::SampledFigure* (proto::Telemetry::*place)(), proto::Telemetry& to) {
  if (!figure) return;
  proto::SampledFigure& one = *(to.*place)();
  one.set_least(figure->least);
  one.set_mean(figure->mean);
  one.set_most(figure->most);
}

void TrafficOf(const std::optional<LinkTraffic>& traffic,
               proto::LinkTraffic* (proto::Telemetry::*place)(), proto::Telemetry& to) {
  if (!traffic) return;
  proto::LinkTraffic& one = *(to.*place)();
  one.set_mean_gb_per_s(traffic->mean_bytes_s * 1e-9);
  one.set_most_gb_per_s(traffic->most_bytes_s * 1e-9);
}

// A number that a fact about the GPU tells.
std::optional<int> GpuFact(const Rank& rank, int ordinal, std::string_view name) {
  const std::string key = fmt::format("{}.{}", ordinal, name);
  for (const SystemFact& fact : rank.facts) {
    int value = 0;
    if (fact.kind != "gpu" || fact.key != key) continue;
    const char* const end = fact.value.data() + fact.value.size();
    if (std::from_chars(fact.value.data(), end, value).ptr == end && value > 0) return value;
  }
  return std::nullopt;
}

}  // namespace

void WriteTelemetry(const Rank& rank, int ordinal, const Telemetry& from, proto::Telemetry& to) {
  using To = proto::Telemetry;
  to.set_samples(from.samples);
  to.set_sampled_ns(from.sampled_ns);
  to.set_busy_ns(from.busy_ns);
  FigureOf(from.sm_clock_mhz, &To::mutable_sm_clock_mhz, to);
  FigureOf(from.memory_clock_mhz, &To::mutable_memory_clock_mhz, to);
  FigureOf(from.power_w, &To::mutable_power_w, to);
  FigureOf(from.temperature_c, &To::mutable_temperature_c, to);
  FigureOf(from.memory_used_bytes, &To::mutable_memory_used_bytes, to);
  SetIf(from.busy_sm_clock_mhz, [&](double v) { to.set_busy_sm_clock_mhz(v); });
  const auto fact = [&](const char* name) { return GpuFact(rank, ordinal, name); };
  SetIf(fact("sm_clock_most_mhz"), [&](int v) { to.set_highest_sm_clock_mhz(v); });
  SetIf(fact("power_limit_mw"), [&](int v) { to.set_power_limit_w(v * 1e-3); });
  for (const Throttle& throttle : from.throttled) {
    proto::Throttle& one = *to.add_throttled();
    one.set_reason(std::string(throttle.reason));
    one.set_ns(throttle.ns);
    one.set_busy_ns(throttle.busy_ns);
  }
  to.set_throttled_busy_ns(from.throttled_busy_ns);
  SetIf(from.pcie_generation, [&](int v) { to.set_pcie_generation(v); });
  SetIf(from.pcie_width, [&](int v) { to.set_pcie_width(v); });
  SetIf(fact("pcie_generation_most"), [&](int v) { to.set_pcie_generation_most(v); });
  SetIf(fact("pcie_width_most"), [&](int v) { to.set_pcie_width_most(v); });
  TrafficOf(from.pcie_sent, &To::mutable_pcie_sent, to);
  TrafficOf(from.pcie_received, &To::mutable_pcie_received, to);
  TrafficOf(from.nvlink_sent, &To::mutable_nvlink_sent, to);
  TrafficOf(from.nvlink_received, &To::mutable_nvlink_received, to);
  SetIf(from.pcie_replays, [&](std::int64_t v) { to.set_pcie_replays(v); });
  SetIf(from.nvlink_errors, [&](std::int64_t v) { to.set_nvlink_errors(v); });
  SetIf(from.ecc_corrected, [&](std::int64_t v) { to.set_ecc_corrected(v); });
  SetIf(from.ecc_uncorrected, [&](std::int64_t v) { to.set_ecc_uncorrected(v); });
}

void WriteCounterSampling(const CounterSamples& from, proto::CounterSampling& to) {
  to.set_source(from.source == CounterSource::kPmSampling ? "PM sampling"
                : from.source == CounterSource::kGpm      ? "GPM"
                                                          : "");
  to.set_samples(static_cast<std::int64_t>(from.size()));
  to.set_counters(static_cast<int>(from.columns.size()));
  to.set_period_ns(from.period_ns);
  to.set_gaps(static_cast<std::int64_t>(from.gaps.size()));
  for (const Interval& gap : from.gaps) to.set_gap_ns(to.gap_ns() + gap.end - gap.start);
  to.set_uncertainty_ns(from.clock.uncertainty);
  to.set_edges(from.clock.edges);
}

void WriteMeasuredUse(const DeviceCounters& from, TimeNs times_ns,
                      const std::optional<MeasuredHfu>& hfu, proto::MeasuredUse& to) {
  for (const CounterShare& mean : from.means) {
    proto::MeasuredShare& one = *to.add_values();
    one.set_name(std::string(InfoOf(mean.id).name));
    one.set_share(mean.share);
  }
  if (times_ns > 0)
    to.set_covered_share(static_cast<double>(from.covered_ns) / static_cast<double>(times_ns));
  if (!hfu) return;
  to.set_peak_share(hfu->share);
  to.set_peak_share_error(hfu->error);
  to.set_counted_share(hfu->counted_share);
  to.set_counter_share(hfu->counter_share);
  SetIf(hfu->shapes_by_counter, [&](double v) { to.set_shapes_by_counter(v); });
}

void WriteKernelCounters(const KernelCounters& from, proto::KernelCounters& to) {
  to.set_samples(from.samples);
  to.set_exact(from.exact);
  to.set_limiter(std::string(LimitName(from.limit())));
  for (const CounterShare& value : from.values) {
    proto::KernelCounter& one = *to.add_values();
    one.set_name(std::string(InfoOf(value.id).name));
    one.set_share(value.share);
    one.set_error(value.error);
  }
}

void WriteDeviceSamples(const DeviceSamples& from, Interval window, TimeNs origin,
                        proto::DeviceReport& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from.time[i] < window.start || from.time[i] >= window.end) continue;
    proto::DeviceSample& one = *to.add_device_samples();
    one.set_time_ns(from.time[i] - origin);
    if (from.sm_clock_mhz[i] >= 0) one.set_sm_clock_mhz(from.sm_clock_mhz[i]);
    if (from.power_mw[i] >= 0) one.set_power_w(from.power_mw[i] * 1e-3);
    if (from.temperature_c[i] >= 0) one.set_temperature_c(from.temperature_c[i]);
    if (from.memory_used_bytes[i] >= 0) one.set_memory_used_bytes(from.memory_used_bytes[i]);
  }
}

}  // namespace traceinject
