// SPDX-License-Identifier: Apache-2.0
#include "injector/telemetry/worker_sampler.h"

#include <gtest/gtest.h>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

constexpr std::int64_t kSelf = 100;
constexpr std::int64_t kSecond = 1'000'000'000;

class WorkerSamplerTest : public testing::Test {
 protected:
  WorkerSamplerTest() {
    root_.Write("self/cmdline", std::string("python\0train.py\0", 16));
    root_.Write("self/task/100/children", "");
    SetProcess(kSelf, {});
  }

  void SetProcess(long pid, FakeStat stat, const std::string& exe = "/usr/bin/python3.11",
                  const std::string& command = std::string("python\0train.py\0", 16)) {
    stat.pid = pid;
    const std::string folder = std::to_string(pid) + "/";
    root_.Write(folder + "stat", stat.Text());
    root_.Write(folder + "cmdline", command);
    root_.Write(folder + "fd/.keep", "");
    root_.Link(folder + "exe", exe);
  }
  void SetChildren(const std::string& pids) { root_.Write("self/task/100/children", pids); }
  void SetRead(long pid, long bytes) {
    root_.Write(std::to_string(pid) + "/io",
                "rchar: 1\nread_bytes: " + std::to_string(bytes) + "\nwrite_bytes: 3\n");
  }
  static WorkerClock At(std::int64_t seconds) { return {seconds * kSecond, seconds * kSecond}; }

  FakeRoot root_;
  WorkerSampler sampler_{root_.path(), kSelf};
  WorkerSampler::Found found_;
};

TEST_F(WorkerSamplerTest, FindsPythonChildren) {
  SetProcess(201, {.parent = kSelf, .start = 300});
  SetProcess(202, {.parent = kSelf}, "/usr/bin/gcc");
  SetChildren("201 202 ");
  sampler_.FindChildren(At(5), &found_);
  ASSERT_EQ(found_.workers.size(), 1U);
  EXPECT_EQ(found_.workers[0].pid, 201);
  EXPECT_EQ(found_.workers[0].loader, 0U);
  EXPECT_EQ(found_.workers[0].start, 300 * TickNs());
  EXPECT_FALSE(found_.workers[0].ended);
  sampler_.FindChildren(At(6), &found_);
  EXPECT_EQ(found_.workers.size(), 1U) << "once";
}

TEST_F(WorkerSamplerTest, FindsChildrenByTheirParentWhereTheKernelListsNone) {
  root_.Remove("self/task/100/children");
  SetProcess(201, {.parent = kSelf});
  SetProcess(301, {.parent = 7});
  sampler_.FindChildren(At(5), &found_);
  ASSERT_EQ(found_.workers.size(), 1U);
  EXPECT_EQ(found_.workers[0].pid, 201);
}

TEST_F(WorkerSamplerTest, AProcessThatUsesAGpuIsNoWorker) {
  SetProcess(201, {.parent = kSelf}, "/usr/bin/python3", "python\0rank.py");
  SetProcess(202, {.parent = kSelf}, "/usr/bin/python3", "python\0spawn_main");
  SetProcess(203, {.parent = kSelf});  // forked: has our open devices, and cannot use them
  for (const char* pid : {"201", "203"}) root_.Link(std::string(pid) + "/fd/9", "/dev/nvidia0");
  root_.Link("202/fd/9", "/dev/nvidiactl");
  SetChildren("201 202 203");
  sampler_.FindChildren(At(5), &found_);
  ASSERT_EQ(found_.workers.size(), 2U);
  EXPECT_EQ(found_.workers[0].pid, 202);
  EXPECT_EQ(found_.workers[1].pid, 203);
  root_.Link("202/fd/10", "/dev/nvidia1");
  sampler_.FindChildren(At(6), &found_);
  ASSERT_EQ(found_.workers.size(), 3U);
  EXPECT_EQ(found_.workers[2].pid, 202);
  EXPECT_TRUE(found_.workers[2].ended) << "it became a rank of its own";
}

TEST_F(WorkerSamplerTest, AChildFromBeforeTheRecordingHasItsOwnDevices) {
  SetProcess(201, {.parent = kSelf, .start = 100});
  root_.Link("201/fd/9", "/dev/nvidia0");
  SetChildren("201");
  // The recording began three seconds after the machine.
  sampler_.FindChildren({2 * kSecond, 5 * kSecond}, &found_);
  EXPECT_EQ(found_.workers.size(), 0U);
}

TEST_F(WorkerSamplerTest, NamedWorkersNeedNotBeChildren) {
  SetProcess(201, {.parent = 7}, "/opt/app/server");
  EXPECT_TRUE(sampler_.Tell(201, 3, At(5), &found_));
  EXPECT_TRUE(sampler_.Tell(201, 3, At(6), &found_));
  ASSERT_EQ(found_.workers.size(), 1U);
  EXPECT_EQ(found_.workers[0].loader, 3U);
  EXPECT_FALSE(sampler_.Tell(999, 3, At(5), &found_));
  sampler_.FindChildren(At(6), &found_);
  EXPECT_EQ(found_.workers.size(), 1U) << "what is named stays";
}

TEST_F(WorkerSamplerTest, AChildThatIsNamedLaterKeepsItsRow) {
  SetProcess(201, {.parent = kSelf});
  SetChildren("201");
  sampler_.FindChildren(At(5), &found_);
  sampler_.Tell(201, 2, At(6), &found_);
  ASSERT_EQ(found_.workers.size(), 2U);
  EXPECT_EQ(found_.workers[0].id, found_.workers[1].id);
  EXPECT_EQ(found_.workers[1].loader, 2U);
}

TEST_F(WorkerSamplerTest, StatesAndUse) {
  SetProcess(201, {.state = 'D', .user = 10});
  SetRead(201, 4096);
  sampler_.Tell(201, 1, At(5), &found_);
  sampler_.LookAtStates(At(5), &found_);
  sampler_.LookAtStates(At(5), &found_);
  SetProcess(201, {.state = 'R', .user = 30, .system = 5});
  sampler_.LookAtStates(At(6), &found_);
  sampler_.Sample(At(6), &found_);
  sampler_.Sample(At(7), &found_);
  ASSERT_EQ(found_.samples.size(), 2U);
  const WorkerSampleRow& first = found_.samples[0];
  EXPECT_EQ(first.time, 6 * kSecond);
  EXPECT_EQ(first.worker, found_.workers[0].id);
  EXPECT_EQ(first.cpu_ns, 35 * TickNs());
  EXPECT_EQ(first.read_bytes, 4096);
  EXPECT_EQ(first.states, 3);
  EXPECT_EQ(first.states_disk, 2);
  EXPECT_EQ(found_.samples[1].states, 0) << "counted since the last row";
}

TEST_F(WorkerSamplerTest, WhatTheKernelDoesNotTellIsUnknown) {
  SetProcess(201, {});
  sampler_.Tell(201, 1, At(5), &found_);
  sampler_.Sample(At(6), &found_);
  ASSERT_EQ(found_.samples.size(), 1U);
  EXPECT_EQ(found_.samples[0].read_bytes, -1);
}

TEST_F(WorkerSamplerTest, EndsAreSeen) {
  SetProcess(201, {.start = 1});
  SetProcess(202, {.start = 1});
  SetProcess(203, {.start = 1});
  for (const int pid : {201, 202, 203}) sampler_.Tell(pid, 1, At(5), &found_);
  root_.Remove("201");
  SetProcess(202, {.state = 'Z', .start = 1});
  SetProcess(203, {.start = 900});  // another process took the number
  found_ = {};
  sampler_.LookAtStates(At(8), &found_);
  ASSERT_EQ(found_.workers.size(), 3U);
  for (const WorkerRow& worker : found_.workers) {
    EXPECT_TRUE(worker.ended);
    EXPECT_EQ(worker.end, 8 * kSecond);
  }
  sampler_.Tell(203, 1, At(9), &found_);
  ASSERT_EQ(found_.workers.size(), 4U);
  EXPECT_EQ(found_.workers[3].id, 4U) << "a worker of its own";
}

}  // namespace
}  // namespace traceinject
