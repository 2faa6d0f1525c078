// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/report/text/text_sections.h"

namespace traceinject {
namespace {

// "117 to 701 W" or "3201 MHz".
std::string Range(const proto::SampledFigure& figure, const char* unit) {
  if (figure.least() == figure.most()) return fmt::format("{:.0f} {}", figure.most(), unit);
  return fmt::format("{:.0f} to {:.0f} {}", figure.least(), figure.most(), unit);
}

void WriteClocks(TextReport& to, const proto::Telemetry& telemetry) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (telemetry.has_sm_clock_mhz()) {
    std::string clock = "SM clock " + Range(telemetry.sm_clock_mhz(), "MHz");
    if (telemetry.has_busy_sm_clock_mhz())
      clock += fmt::format(", {:.0f} while busy", telemetry.busy_sm_clock_mhz());
    if (telemetry.has_highest_sm_clock_mhz())
      clock += fmt::format(" (max {:.0f})", telemetry.highest_sm_clock_mhz());
    add(clock);
  }
  if (telemetry.has_power_w()) {
    std::string power = "power " + Range(telemetry.power_w(), "W");
    if (telemetry.has_power_limit_w())
      power += fmt::format(" (limit {:.0f})", telemetry.power_limit_w());
    add(power);
  }
  if (telemetry.has_temperature_c())
    add(fmt::format("max {:.0f} C", telemetry.temperature_c().most()));
  if (telemetry.has_memory_used_bytes())
    add(FormatBytes(static_cast<std::int64_t>(telemetry.memory_used_bytes().most())) +
        " of memory used at peak");
  if (!text.empty()) to.page.Sentence(text);
}

void WriteThrottling(TextReport& to, const proto::Telemetry& telemetry) {
  if (telemetry.throttled_busy_ns() == 0 || telemetry.busy_ns() == 0) return;
  const auto share = [&](std::int64_t ns) {
    return Percent(static_cast<double>(ns) / static_cast<double>(telemetry.busy_ns()));
  };
  std::string text = fmt::format("the clock was throttled in {} of the sampled busy time:",
                                 share(telemetry.throttled_busy_ns()));
  for (const proto::Throttle& throttle : telemetry.throttled()) {
    if (throttle.busy_ns() > 0)
      text += fmt::format(" {} {},", throttle.reason(), share(throttle.busy_ns()));
  }
  text.pop_back();
  to.page.Sentence(text);
}

// ", sent 0.01 GB/s (up to 0.05)".
std::string Traffic(const char* verb, const proto::LinkTraffic& traffic) {
  return fmt::format(", {} {:.2f} GB/s (up to {:.2f})", verb, traffic.mean_gb_per_s(),
                     traffic.most_gb_per_s());
}

void WriteLinks(TextReport& to, const proto::Telemetry& telemetry) {
  if (telemetry.has_pcie_generation() && telemetry.has_pcie_width()) {
    std::string text =
        fmt::format("PCIe generation {} x{}", telemetry.pcie_generation(), telemetry.pcie_width());
    if (telemetry.has_pcie_sent()) text += Traffic("sent", telemetry.pcie_sent());
    if (telemetry.has_pcie_received()) text += Traffic("received", telemetry.pcie_received());
    to.page.Sentence(text);
  }
  // Cards without NVLink have counters, too, which stay 0.
  std::string nvlink;
  if (telemetry.nvlink_sent().most_gb_per_s() > 0)
    nvlink += Traffic("sent", telemetry.nvlink_sent());
  if (telemetry.nvlink_received().most_gb_per_s() > 0)
    nvlink += Traffic("received", telemetry.nvlink_received());
  if (!nvlink.empty()) to.page.Sentence("NVLink" + nvlink.substr(1));
}

}  // namespace

void WriteCounterSampling(TextReport& to, const proto::CounterSampling& sampling) {
  std::string text =
      fmt::format("hardware counters: {} of {} every {}", Plural(sampling.samples(), "sample"),
                  Plural(sampling.counters(), "counter"), FormatTime(sampling.period_ns()));
  if (!sampling.source().empty()) text += fmt::format(" ({})", sampling.source());
  text += sampling.gaps() == 0
              ? std::string(", none missing")
              : fmt::format(", {} ({}) without samples", Plural(sampling.gaps(), "gap"),
                            FormatTime(sampling.gap_ns()));
  text += fmt::format("; in time with kernels to ±{}", FormatTime(sampling.uncertainty_ns()));
  to.page.Sentence(text);
}

void WriteMeasuredUse(TextReport& to, const proto::MeasuredUse& use) {
  std::string text;
  for (const proto::MeasuredShare& one : use.values())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.name(), Percent(one.share()));
  text += fmt::format(" ({} of the time has samples)", Percent(use.covered_share()));
  to.page.Sentence("measured: " + text);
  if (!use.has_peak_share()) return;
  std::string hfu = fmt::format("measured HFU: {} ± {}", Percent(use.peak_share()),
                                Percent(use.peak_share_error()));
  hfu += fmt::format("; {} by shapes, the rest by the cycles of busy tensor cores",
                     Percent(use.counted_share()));
  if (use.has_shapes_by_counter())
    hfu += fmt::format("; where both are known, shapes tell {:.2f} times what the counter tells",
                       use.shapes_by_counter());
  to.page.Sentence(hfu);
}

void WriteTelemetry(TextReport& to, const proto::Telemetry& telemetry) {
  WriteClocks(to, telemetry);
  WriteThrottling(to, telemetry);
  WriteLinks(to, telemetry);
}

}  // namespace traceinject
