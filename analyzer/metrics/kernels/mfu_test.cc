// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/kernels/mfu.h"

#include <gtest/gtest.h>

#include <deque>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

constexpr Interval kSecond{0, 1'000'000'000};

Run OneGpu(const std::string& name = "NVIDIA H200") {
  RankBuilder builder;
  builder.rank().devices[0].name = name;
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  return run;
}

// A kernel and the call at `launched` that launched it.
void AddWork(RankBuilder& builder, TimeNs launched, Interval on_gpu) {
  const std::uint32_t launch = builder.AddApi(launched, launched + 5'000, "cuLaunchKernel");
  builder.AddKernel(on_gpu.start, on_gpu.end, "gemm", launch);
}

// With the steps that are found in its window.
class Used {
 public:
  Used(const Rank& rank, const Device& device, Interval window)
      : steps_(FindSteps(rank, device, window)), device_{&rank, &device, window, &steps_} {}
  Used(const Used&) = delete;
  Used& operator=(const Used&) = delete;
  const MfuDevice& device() const { return device_; }

 private:
  Steps steps_;
  MfuDevice device_;
};

Mfu Compute(const traceinject::Run& run, const MfuOptions& options) {
  std::deque<Used> used;
  std::vector<MfuDevice> devices;
  for (const Rank& rank : run.ranks) {
    for (const Device& device : rank.devices)
      devices.push_back(used.emplace_back(rank, device, kSecond).device());
  }
  return ComputeMfu(run, devices, kSecond, kSecond, options);
}

TEST(MfuTest, FlopsPerStepTimesStepsOverPeak) {
  const Mfu mfu = Compute(OneGpu(), {.flops_per_step = 98.9e12, .steps = 5});
  ASSERT_TRUE(mfu.percent) << mfu.reason;
  EXPECT_NEAR(*mfu.percent, 50, 1e-9);
  EXPECT_NEAR(*mfu.achieved_tflops_per_device, 494.5, 1e-9);
  EXPECT_EQ(mfu.steps_source, "as given");
}

// 1829 MHz is the clock of the published rate.
TEST(MfuTest, AtTheClockThatTheGpuHad) {
  traceinject::Run run = OneGpu();
  Device& device = run.ranks[0].devices[0];
  device.cc_major = 9;
  device.cc_minor = 0;
  device.sm_count = 132;
  device.sm_clock_khz = 1'980'000;
  const MfuOptions options = {.flops_per_step = 98.9e12, .steps = 5};
  MfuDevice used{&run.ranks[0], &device, kSecond};
  EXPECT_FALSE(ComputeMfu(run, {used}, kSecond, kSecond, options).percent_at_clock) << "not known";
  used.busy_sm_clock_mhz = 1200;
  const Mfu mfu = ComputeMfu(run, {used}, kSecond, kSecond, options);
  EXPECT_NEAR(*mfu.percent, 50, 1e-9);
  EXPECT_NEAR(*mfu.percent_at_clock, 50 * 1829.2 / 1200, 0.01);
  EXPECT_NEAR(*mfu.rated_sm_clock_mhz, 1829.2, 0.1);
  EXPECT_EQ(mfu.busy_sm_clock_mhz, 1200);
}

TEST(MfuTest, ParametersAndTokens) {
  const Mfu mfu = Compute(OneGpu(), {.params = 1e9, .tokens_per_step = 1e4, .steps = 1});
  EXPECT_EQ(mfu.flops_per_step, 6e13);
  EXPECT_NEAR(*mfu.percent, 100 * 60 / 989.0, 1e-9);
  EXPECT_NE(mfu.convention.find("6ND"), std::string::npos);
}

TEST(MfuTest, StepsFromNvtx) {
  RankBuilder builder;
  builder.AddRange({0, 400'000'000, "step 0"});
  builder.AddRange({400'000'000, 600'000'000, "step 1"});
  AddWork(builder, 10'000'000, {20'000'000, 30'000'000});     // in step 0
  AddWork(builder, 500'000'000, {600'000'000, 820'000'000});  // in step 1, done after its range
  AddWork(builder, 700'000'000, {900'000'000, 990'000'000});  // after the steps
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const Mfu mfu = Compute(run, {.flops_per_step = 98.9e12});
  EXPECT_EQ(mfu.steps, 2);
  EXPECT_EQ(mfu.steps_source, "NVTX ranges step N");
  EXPECT_EQ(mfu.window_ns, 800'000'000) << "from the first to the last work of the steps";
  EXPECT_NEAR(*mfu.percent, 25, 1e-9);
}

TEST(MfuTest, StepsThatWereFoundOtherwise) {
  RankBuilder builder;
  // The first takes three times as long as the others: warm-up.
  TimeNs end = 300'000'000;
  for (int i = 0; i < 7; ++i, end += 100'000'000) {
    AddWork(builder, end - 90'000'000, {end - 80'000'000, end - 10'000'000});
    builder.AddStepMark(end - 20'000'000);
    if (i == 0) end += 200'000'000;
  }
  builder.AddDevice("NVIDIA H200");  // does nothing
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const Interval all{0, 2'000'000'000};
  const Used used(run.ranks[0], run.ranks[0].devices[0], all);
  const Mfu mfu = ComputeMfu(run, {used.device()}, all, all, {.flops_per_step = 49.45e12});
  EXPECT_EQ(mfu.steps, 5) << mfu.reason;
  EXPECT_EQ(mfu.steps_source, "optimizer steps; 1 left out");
  EXPECT_EQ(mfu.window_ns, 500'000'000);
  EXPECT_NEAR(*mfu.percent, 50, 1e-9);
}

TEST(MfuTest, APeakThatIsGivenComesBeforeThePublishedOne) {
  const Mfu mfu =
      Compute(OneGpu("Some GPU"), {.flops_per_step = 1e12, .steps = 50, .peak_tflops = 200});
  EXPECT_NEAR(*mfu.percent, 25, 1e-9);
  EXPECT_EQ(mfu.peak_source, "as given");
  EXPECT_FALSE(mfu.percent_at_clock);
  EXPECT_NE(Compute(OneGpu(), {.flops_per_step = 1e12, .steps = 1, .peak_tflops = -1})
                .reason.find("positive"),
            std::string::npos);
}

TEST(MfuTest, RegularStepsAlone) {
  RankBuilder builder;
  TimeNs t = 0;
  for (int step = 0; step < 12; ++step) {
    AddWork(builder, t + 1'000'000, {t + 1'100'000, t + 9'000'000});
    t += step == 6 ? 400'000'000 : 10'000'000;  // something else went on for long
    builder.AddStepMark(t - 500'000);
  }
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  const Mfu mfu = Compute(run, {.flops_per_step = 0.989e12});
  EXPECT_EQ(mfu.steps, 10);
  EXPECT_EQ(mfu.steps_source, "optimizer steps; 1 left out");
  EXPECT_EQ(mfu.window_ns, 100'000'000);
  EXPECT_NEAR(*mfu.percent, 10, 1e-9);
}

TEST(MfuTest, StepsWithoutWorkHaveNoTime) {
  RankBuilder builder;
  builder.AddRange({0, 400'000'000, "step 0"});
  traceinject::Run run;
  run.ranks.push_back(builder.rank());
  EXPECT_NE(Compute(run, {.flops_per_step = 1e12}).reason.find("no GPU work was launched"),
            std::string::npos);
}

TEST(MfuTest, RanksThatDisagreeOnTheStepsAreNamed) {
  RankBuilder a, b;
  a.AddRange({0, 400'000'000, "step 0"});
  b.AddRange({0, 400'000'000, "step 0"});
  b.AddRange({400'000'000, 900'000'000, "step 1"});
  AddWork(a, 10'000'000, {20'000'000, 30'000'000});
  AddWork(b, 10'000'000, {20'000'000, 30'000'000});
  traceinject::Run run;
  run.ranks = {a.rank(), b.rank()};
  EXPECT_EQ(Compute(run, {.flops_per_step = 1e12}).steps_source,
            "NVTX ranges step N (1 to 2 across ranks: smallest used)");
}

TEST(MfuTest, RanksThatWereNotRecordedCountAsDevices) {
  traceinject::Run run = OneGpu();
  run.ranks[0].process.world_size = 8;
  const Mfu mfu = Compute(run, {.flops_per_step = 989e12, .steps = 1});
  EXPECT_EQ(mfu.devices, 8);
  EXPECT_NEAR(*mfu.percent, 12.5, 1e-9);
}

TEST(MfuTest, ProcessesOfOneRankOnOneCardCountOnce) {
  traceinject::Run run = OneGpu();
  run.ranks[0].rank = 0;
  run.ranks[0].devices[0].uuid = "GPU-1";
  run.ranks[0].process.world_size = 1;
  run.ranks.push_back(run.ranks[0]);
  const Mfu mfu = Compute(run, {.flops_per_step = 98.9e12, .steps = 1});
  EXPECT_EQ(mfu.devices, 1);
  EXPECT_NEAR(*mfu.percent, 10, 1e-9);
  run.ranks[0].process.world_size = 3;
  EXPECT_EQ(Compute(run, {.flops_per_step = 98.9e12, .steps = 1}).devices, 3);
}

TEST(MfuTest, ClocksOfTwoHostsNeedNotAgree) {
  constexpr TimeNs kAhead = 3'600'000'000'000;
  traceinject::Run run;
  std::vector<MfuDevice> devices;
  for (const TimeNs ahead : {TimeNs{0}, kAhead}) {
    RankBuilder builder;
    builder.AddRange({ahead, ahead + 900'000'000, "step 0"});
    AddWork(builder, ahead + 1'000, {ahead + 100'000'000, ahead + 600'000'000});
    builder.rank().process.host = ahead == 0 ? "a" : "b";
    run.ranks.push_back(builder.rank());
  }
  std::deque<Used> used;
  for (const Rank& rank : run.ranks) {
    const TimeNs start = rank.process.host == "a" ? 0 : kAhead;
    const Interval window{start, start + kSecond.end};
    devices.push_back(used.emplace_back(rank, rank.devices[0], window).device());
  }
  const Interval all{0, kAhead + kSecond.end};
  MfuOptions options = {.flops_per_step = 98.9e12};
  EXPECT_EQ(ComputeMfu(run, devices, all, all, options).window_ns, 500'000'000);
  options.steps = 1;
  EXPECT_EQ(ComputeMfu(run, devices, all, all, options).window_ns, kSecond.end);
}

TEST(MfuTest, ReasonsInsteadOfNumbers) {
  const auto reason = [](const traceinject::Run& run, const MfuOptions& options) {
    const Mfu mfu = Compute(run, options);
    EXPECT_FALSE(mfu.percent);
    return mfu.reason;
  };
  EXPECT_NE(reason(OneGpu(), {}).find("--flops-per-step"), std::string::npos);
  EXPECT_NE(reason(OneGpu(), {.flops_per_step = 1e12}).find("--step-count"), std::string::npos);
  EXPECT_NE(reason(OneGpu(), {.flops_per_step = -1, .steps = 1}).find("positive"),
            std::string::npos);
  EXPECT_NE(reason(OneGpu(), {.flops_per_step = 1e12, .steps = 0}).find("positive"),
            std::string::npos);
  EXPECT_NE(reason(OneGpu(), {.params = 1e9, .steps = 1}).find("--tokens-per-step"),
            std::string::npos);
  EXPECT_NE(reason(OneGpu(), {.tokens_per_step = 1e4, .steps = 1}).find("--params"),
            std::string::npos);
  EXPECT_NE(reason(OneGpu("Some GPU"), {.flops_per_step = 1e12, .steps = 1})
                .find("'Some GPU' is not known"),
            std::string::npos);
  EXPECT_NE(reason(OneGpu("Tesla V100-SXM2-16GB"), {.flops_per_step = 1e12, .steps = 1})
                .find("no bf16 peak"),
            std::string::npos);
  EXPECT_NE(reason(traceinject::Run{}, {.flops_per_step = 1e12, .steps = 1}).find("no GPU work"),
            std::string::npos);
}

TEST(MfuTest, MoreThanThePeakIsRefused) {
  const Mfu mfu = Compute(OneGpu(), {.flops_per_step = 2e15, .steps = 1});
  EXPECT_FALSE(mfu.percent);
  EXPECT_NE(mfu.reason.find("202.2 % of the peak is impossible"), std::string::npos) << mfu.reason;
}

}  // namespace
}  // namespace traceinject
