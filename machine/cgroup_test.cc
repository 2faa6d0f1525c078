// SPDX-License-Identifier: Apache-2.0
#include "machine/cgroup.h"

#include <gtest/gtest.h>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

double Processors(const FakeRoot& root) {
  const auto quota = ReadCpuQuota(root.path());
  return quota ? quota->processors() : 0;
}

std::int64_t Memory(const FakeRoot& root) { return ReadMemoryLimitBytes(root.path()).value_or(0); }

TEST(CgroupTest, NothingThatCanBeRead) {
  const FakeRoot root;
  EXPECT_FALSE(ReadCpuQuota(root.path()));
  EXPECT_FALSE(ReadMemoryLimitBytes(root.path()));
}

TEST(CgroupTest, Container) {
  const FakeRoot root;
  root.Write("proc/self/cgroup", "0::/\n");
  root.Write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  root.Write("sys/fs/cgroup/memory.max", "68719476736\n");
  EXPECT_EQ(Processors(root), 2.5);
  EXPECT_EQ(Memory(root), 68719476736);
}

TEST(CgroupTest, NoLimit) {
  const FakeRoot root;
  root.Write("proc/self/cgroup", "0::/a\n");
  for (const char* folder : {"sys/fs/cgroup/", "sys/fs/cgroup/a/"}) {
    root.Write(folder + std::string("cpu.max"), "max 100000\n");
    root.Write(folder + std::string("memory.max"), "max\n");
  }
  EXPECT_EQ(Processors(root), 0);
  EXPECT_EQ(Memory(root), 0);
}

// As of a step of a SLURM job: the limits are those of the job.
TEST(CgroupTest, TightestOfTheGroupsAbove) {
  const FakeRoot root;
  root.Write("proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
  const std::string job = "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7";
  root.Write("sys/fs/cgroup/system.slice/memory.max", "max\n");
  root.Write(job + "/memory.max", "17179869184\n");
  root.Write(job + "/cpu.max", "1600000 100000\n");
  root.Write(job + "/step_0/memory.max", "34359738368\n");
  root.Write(job + "/step_0/user/task_0/memory.max", "max\n");
  root.Write(job + "/step_0/user/task_0/cpu.max", "400000 50000\n");
  EXPECT_EQ(Memory(root), 17179869184);
  EXPECT_EQ(Processors(root), 8);
}

TEST(CgroupTest, VersionOne) {
  const FakeRoot root;
  root.Write("proc/self/cgroup",
             "12:devices:/x\n7:cpu,cpuacct:/slurm/uid_1/job_7\n4:memory:/slurm/uid_1/job_7/step_0\n"
             "1:name=systemd:/y\n0::/y\n");
  root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.Write("sys/fs/cgroup/memory/slurm/uid_1/job_7/memory.limit_in_bytes", "8589934592\n");
  root.Write("sys/fs/cgroup/memory/y/memory.limit_in_bytes", "4096\n");
  root.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  root.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  root.Write("sys/fs/cgroup/cpu/slurm/uid_1/job_7/cpu.cfs_quota_us", "400000\n");
  root.Write("sys/fs/cgroup/cpu/slurm/uid_1/job_7/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Memory(root), 8589934592) << "y is a group of another tree";
  EXPECT_EQ(Processors(root), 4);
}

// Docker with version 1: the path is the host's, and what is mounted is the container's own group.
TEST(CgroupTest, ContainerWithoutNamespace) {
  const FakeRoot root;
  root.Write("proc/self/cgroup", "4:memory:/docker/0123\n3:cpu,cpuacct:/docker/0123\n");
  root.Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  root.Write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
  root.Write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Memory(root), 2147483648);
  EXPECT_EQ(Processors(root), 1.5);
}

TEST(CgroupTest, NonsenseIsNoLimit) {
  for (const char* text : {"", "\n", "max", "-5 100000", "5 0", "x y", "5", "5 -1", "0 100000"}) {
    const FakeRoot root;
    root.Write("proc/self/cgroup", "0::/../../x\n::\n:\n\n0:\n");
    root.Write("sys/fs/cgroup/cpu.max", text);
    root.Write("sys/fs/cgroup/memory.max", text == std::string("5") ? "5 5" : text);
    root.Write("sys/x/cpu.max", "100000 100000");
    EXPECT_EQ(Processors(root), 0) << text;
    EXPECT_EQ(Memory(root), 0) << text;
  }
}

}  // namespace
}  // namespace traceinject
