// SPDX-License-Identifier: Apache-2.0
// A real recording as a power cap would have made it: GPU clocks may not be set here, so the cap is
// planted in what was recorded. Kernels that multiply matrices take longer by as much as the clock
// is lower; others, which memory bounds, keep their length. What that adds to a step is known
// exactly, and the bar of the clock in the waterfall has to grow by it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/import/load/load_run.h"
#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/map_times.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

// testing::Test has a Run of its own.
using Loaded = Run;

constexpr std::int32_t kPowerCap = 4;       // of nvmlClocksEventReasons (nvml.h)
constexpr std::int32_t kLimitMw = 700'000;  // of an H200
constexpr double kTolerance = 0.10;         // of what was planted

bool FollowsTheClock(KernelClass kernel_class) {
  return kernel_class == KernelClass::kGemm || kernel_class == KernelClass::kConv ||
         kernel_class == KernelClass::kMoe || kernel_class == KernelClass::kAttentionForward ||
         kernel_class == KernelClass::kAttentionBackward;
}

Intervals TimesAtTheClock(const GpuOps& ops) {
  std::vector<Interval> times;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.kind[row] == OpKind::kKernel && FollowsTheClock(ops.kernel_class[row]))
      times.push_back({ops.start[row], ops.end[row]});
  }
  return Merge(std::move(times));
}

// Moves every moment by what the cap added before it. It never decreases, so that what was launched
// before it ran still is, on the host and on the GPU.
class AddedBefore {
 public:
  AddedBefore(const Intervals& slowed, double clock) : slowed_(slowed), more_(1 / clock - 1) {
    TimeNs before = 0;
    for (const Interval& time : slowed_) {
      before_.push_back(before);
      before += time.end - time.start;
    }
  }
  TimeNs operator()(TimeNs time) const {
    const auto after = std::partition_point(slowed_.begin(), slowed_.end(),
                                            [&](const Interval& one) { return one.start <= time; });
    if (after == slowed_.begin()) return time;
    const auto last = static_cast<std::size_t>(after - slowed_.begin()) - 1;
    const TimeNs inside = std::min(time, slowed_[last].end) - slowed_[last].start;
    return time + std::llround(more_ * static_cast<double>(before_[last] + inside));
  }

 private:
  const Intervals& slowed_;
  double more_;
  std::vector<TimeNs> before_;
};

// `clock`: share of the clock that is left.
void CapPower(Rank& rank, double clock) {
  Device& device = rank.devices[0];
  const Intervals slowed = TimesAtTheClock(device.ops);
  MapTimes(rank, AddedBefore(slowed, clock));
  DeviceSamples& samples = device.samples;
  const auto sampled_mhz = samples.sm_clock_mhz;
  samples.sm_clock_mhz = {};
  samples.power_mw = {};
  samples.throttle_reasons = {};
  for (std::size_t row = 0; row < samples.size(); ++row) {
    samples.sm_clock_mhz.push_back(
        static_cast<std::int32_t>(std::lround(clock * sampled_mhz[row])));
    samples.power_mw.push_back(kLimitMw);
    samples.throttle_reasons.push_back(kPowerCap);
  }
}

// The recording at this share of its clocks; 1: as it was.
class Recorded {
 public:
  explicit Recorded(double clock) {
    auto run = LoadRun({std::string(TRACEINJECT_RECORDINGS) + "/transformer_h200.db.zst"}, {});
    EXPECT_TRUE(run.ok()) << run.error();
    run_ = std::move(run).value();
    if (clock < 1) CapPower(run_.ranks[0], clock);
    report_ = BuildJudgedReport(run_, {});
    const Intervals slowed = TimesAtTheClock(run_.ranks[0].devices[0].ops);
    const Steps& steps = report_.judged->steps;
    TimeNs slowed_ns = 0;
    for (const Interval& time : steps.judged_times()) slowed_ns += LengthInside(slowed, time);
    planted_ns_ =
        (1 - clock) * static_cast<double>(slowed_ns) / static_cast<double>(steps.count_judged());
  }

  const Report& report() const { return report_.report; }
  // What kernels of the mean step that is judged take longer than they did.
  double planted_ns() const { return planted_ns_; }

  // Of the mean step, by part.
  std::map<std::string, double> BarsNs() const {
    std::map<std::string, double> bars;
    std::int64_t sum_ns = 0;
    long tenths = 0;
    const proto::Waterfall& waterfall = report().devices(0).waterfall();
    for (const proto::WaterfallBar& bar : waterfall.bars()) {
      bars[bar.part()] += static_cast<double>(bar.ns());
      sum_ns += bar.ns();
      tenths += std::lround(10 * bar.percent());
    }
    EXPECT_EQ(tenths, 1000) << "tenths of a percent";
    EXPECT_LE(std::abs(waterfall.step_ns() - sum_ns), waterfall.bars_size())
        << "each is rounded to 1 ns";
    return bars;
  }
  std::string EvidenceText() const {
    std::string text;
    for (const proto::Evidence& line : report().verdict().evidence()) text += line.text() + "\n";
    return text;
  }

 private:
  Loaded run_;
  JudgedReport report_;  // points into it
  double planted_ns_ = 0;
};

class PowerCapWaterfallTest : public testing::TestWithParam<double> {};

TEST_P(PowerCapWaterfallTest, MovesTheBarOfTheClockByWhatItCosts) {
  const Recorded free(1), capped(GetParam());
  EXPECT_NEAR(capped.report().devices(0).telemetry().busy_sm_clock_mhz(),
              GetParam() * free.report().devices(0).telemetry().busy_sm_clock_mhz(), 5);
  const double planted = capped.planted_ns();
  ASSERT_GT(planted, 2e6);
  std::map<std::string, double> before = free.BarsNs(), after = capped.BarsNs();
  const double moved = after["clock"] - before["clock"];
  EXPECT_NEAR(moved, planted, kTolerance * planted);
  for (const auto& [part, ns] : before) after.try_emplace(part, 0);
  double most = 0;  // that another one moved
  for (const auto& [part, ns] : after) {
    if (part == "clock") continue;
    EXPECT_NEAR(ns, before[part], kTolerance * planted) << part;
    most = std::max(most, std::abs(ns - before[part]));
  }
  EXPECT_NEAR(after["achieved"], before["achieved"], 0.001 * before["achieved"])
      << "the work is the same";
  fmt::print("clock x {}: {:.3f} ms planted, its bar {:+.3f} ms, another {:.3f} ms at most\n",
             GetParam(), planted * 1e-6, moved * 1e-6, most * 1e-6);
}

// Four fifths of the highest clock, or more, is what large products get of any card under its cap.
TEST_P(PowerCapWaterfallTest, IsBlamedBelowWhatIsHealthy) {
  const Recorded capped(GetParam());
  const bool healthy = GetParam() > 0.8;
  EXPECT_EQ(capped.report().verdict().label(), healthy ? "compute_bound" : "throttled");
  EXPECT_EQ(capped.EvidenceText().find("reasons: power cap") == std::string::npos, healthy)
      << capped.EvidenceText();
}

INSTANTIATE_TEST_SUITE_P(Clocks, PowerCapWaterfallTest, testing::Values(0.5, 0.7, 0.85));

}  // namespace
}  // namespace traceinject
