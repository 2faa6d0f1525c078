// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/device_checks.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

// Of the busy time in which the clock was held down.
constexpr double kLongThrottled = 0.05;
// A card that runs at its power limit a little below its highest clock is as it should be.
constexpr double kMuchSlower = 0.9;
// A link falls back while the card idles: its best is that under load if there was some.
constexpr double kUnderLoad = 0.1;

struct Reasons {
  std::string_view check, by;
  std::initializer_list<std::string_view> names;  // as in proto::Throttle
};
const Reasons kReasons[] = {
    {"throttled_by_heat",
     "thermal or hardware limits",
     {"software thermal", "hardware thermal", "hardware slowdown", "power brake"}},
    {"throttled_by_power", "the power limit", {"power cap"}},
    {"throttled_by_settings", "settings", {"application clocks", "sync boost"}},
};

class Checks {
 public:
  Checks(const proto::Telemetry& telemetry, std::string_view errors_since)
      : telemetry_(telemetry), errors_since_(errors_since) {}

  std::vector<HygieneProof> All() {
    for (const Reasons& reasons : kReasons) CheckClock(reasons);
    CheckLink();
    CheckErrors();
    return std::move(found_);
  }

 private:
  void Add(std::string_view check, std::string text) {
    found_.push_back({HygieneProof::Of::kGpu, -1, check, std::move(text)});
  }

  // Reasons may overlap: the longest one of a kind counts.
  void CheckClock(const Reasons& reasons) {
    std::int64_t longest_ns = 0;
    std::string why;
    for (const proto::Throttle& throttle : telemetry_.throttled()) {
      for (const std::string_view name : reasons.names) {
        if (throttle.reason() != name || throttle.busy_ns() <= longest_ns) continue;
        longest_ns = throttle.busy_ns();
        why = throttle.reason();
      }
    }
    const auto busy_ns = static_cast<double>(telemetry_.busy_ns());
    const bool clocks = telemetry_.has_busy_sm_clock_mhz() && telemetry_.has_highest_sm_clock_mhz();
    const bool heat = &reasons == std::begin(kReasons);
    if (busy_ns <= 0 || static_cast<double>(longest_ns) < kLongThrottled * busy_ns) return;
    if (!heat && (!clocks || telemetry_.busy_sm_clock_mhz() >=
                                 kMuchSlower * telemetry_.highest_sm_clock_mhz()))
      return;
    std::string text =
        fmt::format("{} reduced the clock in {:.1f} % of the busy time ({})", reasons.by,
                    100 * static_cast<double>(longest_ns) / busy_ns, why);
    if (clocks)
      text += fmt::format("; {:.0f} MHz while busy, max {:.0f}", telemetry_.busy_sm_clock_mhz(),
                          telemetry_.highest_sm_clock_mhz());
    Add(reasons.check, text);
  }

  void CheckLink() {
    if (!telemetry_.has_pcie_generation() || !telemetry_.has_pcie_width()) return;
    const bool loaded = static_cast<double>(telemetry_.busy_ns()) >
                        kUnderLoad * static_cast<double>(telemetry_.sampled_ns());
    const bool slow = loaded && telemetry_.pcie_generation() < telemetry_.pcie_generation_most();
    const bool narrow = telemetry_.pcie_width() < telemetry_.pcie_width_most();
    if (!slow && !narrow) return;
    if (!loaded)
      return Add("pcie_link", fmt::format("PCIe x{}, although card and slot support x{}",
                                          telemetry_.pcie_width(), telemetry_.pcie_width_most()));
    Add("pcie_link",
        fmt::format(
            "PCIe generation {} x{} at best, although card and slot support generation {} x{}",
            telemetry_.pcie_generation(), telemetry_.pcie_width(),
            telemetry_.pcie_generation_most(), telemetry_.pcie_width_most()));
  }

  void CheckErrors() {
    const auto check = [&](std::int64_t count, std::string_view name, std::string_view what) {
      if (count > 0)
        Add(name, fmt::format("{} {}{} {}", FormatCount(count), what, count == 1 ? "" : "s",
                              errors_since_));
    };
    check(telemetry_.ecc_uncorrected(), "ecc_uncorrected", "uncorrected memory error");
    check(telemetry_.ecc_corrected(), "ecc_corrected", "corrected memory error");
    check(telemetry_.pcie_replays(), "pcie_replays", "PCIe replay");
    check(telemetry_.nvlink_errors(), "nvlink_errors", "NVLink error");
  }

  const proto::Telemetry& telemetry_;
  std::string_view errors_since_;
  std::vector<HygieneProof> found_;
};

}  // namespace

std::vector<HygieneProof> CheckTelemetry(const proto::Telemetry& telemetry,
                                         std::string_view errors_since) {
  return Checks(telemetry, errors_since).All();
}

}  // namespace traceinject
