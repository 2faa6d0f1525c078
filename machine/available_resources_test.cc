// SPDX-License-Identifier: Apache-2.0
#include "machine/available_resources.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <thread>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

TEST(AvailableResourcesTest, ProcessorsOfTheAffinityMask) {
  const FakeRoot root;
  std::thread([&] {
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    EXPECT_EQ(CountAvailableProcessors(root.path()), static_cast<unsigned>(CPU_COUNT(&all)));
    int processor = 0;
    while (!CPU_ISSET(processor, &all)) ++processor;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(CountAvailableProcessors(root.path()), 1u);
  }).join();
}

TEST(AvailableResourcesTest, ProcessorsOfTheQuota) {
  const FakeRoot root;
  const unsigned all = CountAvailableProcessors(root.path());
  const auto with = [&](const char* quota) {
    root.Write("sys/fs/cgroup/cpu.max", quota);
    return CountAvailableProcessors(root.path());
  };
  EXPECT_EQ(with("20000 100000\n"), 1u);
  EXPECT_EQ(with("100001 100000\n"), std::min(all, 2u));
  EXPECT_EQ(with("100000000 100000\n"), all);
}

TEST(AvailableResourcesTest, Memory) {
  const FakeRoot root;
  const std::int64_t all = AvailableMemoryBytes(root.path());
  EXPECT_GT(all, std::int64_t{1} << 28);
  root.Write("sys/fs/cgroup/memory.max", "104857600\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), 104857600);
  root.Write("sys/fs/cgroup/memory.max", "576460752303423488\n");
  EXPECT_EQ(AvailableMemoryBytes(root.path()), all);
}

}  // namespace
}  // namespace traceinject
