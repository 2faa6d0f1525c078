// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/clock_savings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "analyzer/metrics/gpu/telemetry.h"

namespace traceinject {
namespace {

bool FollowsTheClock(KernelClass kernel_class) {
  switch (kernel_class) {
    case KernelClass::kGemm:
    case KernelClass::kConv:
    case KernelClass::kMoe:
    case KernelClass::kAttentionForward:
    case KernelClass::kAttentionBackward:
      return true;
    default:
      return false;
  }
}

// The clock under these reasons below which something is wrong, of the highest; 0: nothing is.
double HealthyShare(std::int32_t reasons) {
  double share = 0;
  for (const ThrottleReason& reason : kThrottleReasons) {
    if (reasons >= 0 && (reasons & reason.bit) != 0) share = std::max(share, reason.healthy_share);
  }
  return share;
}

class ClockSearch {
 public:
  explicit ClockSearch(const Device& device)
      : device_(device), highest_mhz_(device.sm_clock_khz.value_or(0) * 1e-3) {}

  KernelSaving Find(OpRange range) {
    const GpuOps& ops = device_.ops;
    if (highest_mhz_ <= 0 || !AnyHeldDown()) return {};
    for (auto op = static_cast<std::uint32_t>(range.begin); op < range.end; ++op) {
      if (ops.kind[op] != OpKind::kKernel || !FollowsTheClock(ops.kernel_class[op])) continue;
      MoveTo(ops.start[op]);
      if (scale_ >= 1) continue;
      const auto length = static_cast<double>(ops.end[op] - ops.start[op]);
      saving_.lengths.push_back({op, static_cast<TimeNs>(std::llround(scale_ * length))});
      held_ns_ += length;
      clock_ns_ += length * device_.samples.sm_clock_mhz[next_ - 1];
      reasons_ |= device_.samples.throttle_reasons[next_ - 1];
    }
    if (!saving_.lengths.empty()) Tell();
    return std::move(saving_);
  }

 private:
  double ScaleOf(std::size_t sample) const {
    const double healthy_mhz =
        highest_mhz_ * HealthyShare(device_.samples.throttle_reasons[sample]);
    const std::int32_t mhz = device_.samples.sm_clock_mhz[sample];
    return mhz > 0 && mhz < healthy_mhz ? mhz / healthy_mhz : 1;
  }
  bool AnyHeldDown() const {
    for (std::size_t sample = 0; sample < device_.samples.size(); ++sample) {
      if (ScaleOf(sample) < 1) return true;
    }
    return false;
  }

  // To the sample that stands for this time, if one does.
  void MoveTo(TimeNs time) {
    const std::vector<TimeNs>& times = device_.samples.time;
    const std::size_t before = next_;
    while (next_ < times.size() && times[next_] <= time) ++next_;
    if (next_ != before) of_sample_ = ScaleOf(next_ - 1);
    scale_ = next_ > 0 && time - times[next_ - 1] < kLongestSampleNs ? of_sample_ : 1;
  }

  void Tell() {
    std::string reasons;
    for (const ThrottleReason& reason : kThrottleReasons) {
      if ((reasons_ & reason.bit) == 0 || reason.healthy_share <= 0) continue;
      reasons += (reasons.empty() ? "" : ", ") + std::string(reason.name);
    }
    saving_.label = "throttled";
    saving_.what = "GEMMs, convolutions and attention at a throttled clock";
    saving_.instead = "at full clock they would take";
    saving_.facts.push_back(
        fmt::format("SM clock {:.0f} MHz while they ran, {:.0f} max; reasons: {}",
                    clock_ns_ / held_ns_, highest_mhz_, reasons));
    saving_.facts.push_back(
        fmt::format("assumed: these kernels scale with the SM clock; a power cap counts as normal "
                    "down to {:.0f} % of the highest clock",
                    100 * kPowerCapShare));
  }

  const Device& device_;
  const double highest_mhz_;
  std::size_t next_ = 0;  // sample
  double of_sample_ = 1;  // before it
  double scale_ = 1;      // now
  double held_ns_ = 0, clock_ns_ = 0;
  std::int32_t reasons_ = 0;
  KernelSaving saving_;
};

}  // namespace

KernelSaving FindClockSaving(const Device& device, OpRange range) {
  return ClockSearch(device).Find(range);
}

}  // namespace traceinject
