// SPDX-License-Identifier: Apache-2.0
#include "injector/telemetry/thread_sampler.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "machine/proc_files.h"
#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

class ThreadSamplerTest : public testing::Test {
 protected:
  void SetThread(long tid, const std::string& schedstat, const FakeStat& stat,
                 const std::string& switches = "5 6") {
    const std::string folder = "self/task/" + std::to_string(tid) + "/";
    if (!schedstat.empty()) root_.Write(folder + "schedstat", schedstat + "\n");
    root_.Write(folder + "stat", stat.Text());
    const std::size_t space = switches.find(' ');
    root_.Write(folder + "status",
                "Name:\tx\nvoluntary_ctxt_switches:\t" + switches.substr(0, space) +
                    "\nnonvoluntary_ctxt_switches:\t" + switches.substr(space + 1) + "\n");
  }
  std::vector<ThreadSample> Sample(std::int64_t time) {
    std::vector<ThreadSample> samples;
    EXPECT_TRUE(sampler_.Sample(time, &samples));
    return samples;
  }

  FakeRoot root_;
  ThreadSampler sampler_{root_.path()};
};

TEST_F(ThreadSamplerTest, AllColumns) {
  SetThread(7, "1000 200 3", {.minor = 4, .major = 5});
  const auto samples = Sample(50);
  ASSERT_EQ(samples.size(), 1U);
  const HostSampleRow& row = samples[0].row;
  EXPECT_EQ(samples[0].tid, 7);
  EXPECT_EQ(row.time, 50);
  EXPECT_EQ(row.cpu_ns, 1000);
  EXPECT_EQ(row.runqueue_ns, 200);
  EXPECT_EQ(row.minor_faults, 4);
  EXPECT_EQ(row.major_faults, 5);
  EXPECT_EQ(row.voluntary_switches, 5);
  EXPECT_EQ(row.involuntary_switches, 6);
}

TEST_F(ThreadSamplerTest, AKernelThatDoesNotAccount) {
  SetThread(7, "", {.user = 3, .system = 1});
  SetThread(8, "0 0 0", {.user = 2});
  const auto samples = Sample(50);
  ASSERT_EQ(samples.size(), 2U);
  for (const ThreadSample& sample : samples) {
    EXPECT_EQ(sample.row.cpu_ns, (sample.tid == 7 ? 4 : 2) * TickNs());
    EXPECT_EQ(sample.row.runqueue_ns, -1) << "unknown, not zero";
  }
}

TEST_F(ThreadSamplerTest, ThreadsWithoutChangeHaveNoRowButTheLastBeforeTheyChange) {
  SetThread(7, "1000 0 3", {});
  SetThread(8, "1000 0 3", {});
  EXPECT_EQ(Sample(10).size(), 2U);
  SetThread(7, "1500 0 4", {});
  EXPECT_EQ(Sample(20).size(), 1U);
  SetThread(7, "1600 0 5", {});
  EXPECT_EQ(Sample(30).size(), 1U);
  SetThread(8, "9000 0 9", {});
  const auto samples = Sample(40);
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].tid, 8);
  EXPECT_EQ(samples[0].row.time, 30);
  EXPECT_EQ(samples[0].row.cpu_ns, 1000);
  EXPECT_EQ(samples[1].row.time, 40);
  EXPECT_EQ(samples[1].row.cpu_ns, 9000);
}

TEST_F(ThreadSamplerTest, ThreadsThatEndAreForgotten) {
  SetThread(7, "1000 0 3", {});
  EXPECT_EQ(Sample(10).size(), 1U);
  root_.Remove("self/task/7");
  EXPECT_EQ(Sample(20).size(), 0U);
  SetThread(7, "10 0 1", {});  // another thread of that number
  EXPECT_EQ(Sample(30).size(), 1U);
}

TEST_F(ThreadSamplerTest, WithoutProcNothingIsTold) {
  std::vector<ThreadSample> samples;
  EXPECT_FALSE(ThreadSampler("/nowhere").Sample(1, &samples));
}

// What a round costs, of which there is one a second. Printed; the limit only catches blunders.
TEST(ThreadSamplerCost, OfAHundredIdleThreads) {
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 100; ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return done; });
    });
  }
  ThreadSampler sampler("/proc");
  std::vector<ThreadSample> samples;
  const auto round_us = [&] {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(sampler.Sample(1, &samples));
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                                 start)
        .count();
  };
  const auto all = round_us();
  const auto idle = round_us();
  RecordProperty("us_when_all_ran", static_cast<int>(all));
  RecordProperty("us_when_idle", static_cast<int>(idle));
  std::printf("100 threads: %lld us when all ran, %lld us when idle\n", static_cast<long long>(all),
              static_cast<long long>(idle));
  EXPECT_LT(all, 200'000);
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_all();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ThreadSamplerTest, AnIdThatIsUsedAgain) {
  SetThread(7, "1000 200 3", {.start = 10});
  Sample(50);
  SetThread(7, "1000 200 4", {.start = 20});
  const auto samples = Sample(60);
  ASSERT_EQ(samples.size(), 1U) << "a thread's first, though its time is the same";
  EXPECT_EQ(samples[0].start_ticks, 20);
  EXPECT_EQ(samples[0].row.time, 60);
}

}  // namespace
}  // namespace traceinject
