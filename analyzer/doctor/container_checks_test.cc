// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/container_checks.h"

#include <gtest/gtest.h>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

std::vector<SystemFact> Environment(const std::string& name, const std::string& value) {
  return {{"env", name, value, ""}};
}

TEST(ContainerChecks, OutsideOfContainersThereIsNothingToTell) {
  const FakeRoot root;
  root.Write("proc/1/cgroup", "0::/init.scope\n");
  EXPECT_EQ(ContainerKind(root.path(), {}), "");
  EXPECT_TRUE(CheckContainer(root.path(), {}, root.path()).empty());
}

TEST(ContainerChecks, KindsOfContainers) {
  const FakeRoot docker, podman, pod, plain;
  docker.Write(".dockerenv", "");
  podman.Write("run/.containerenv", "");
  pod.Write(".dockerenv", "");
  pod.Write("proc/1/cgroup", "0::/kubepods.slice/kubepods-pod1.slice\n");
  EXPECT_EQ(ContainerKind(docker.path(), {}), "Docker");
  EXPECT_EQ(ContainerKind(podman.path(), {}), "Podman");
  EXPECT_EQ(ContainerKind(pod.path(), {}), "Kubernetes");
  EXPECT_EQ(ContainerKind(docker.path(), Environment("KUBERNETES_SERVICE_HOST", "10.0.0.1")),
            "Kubernetes");
  EXPECT_EQ(ContainerKind(plain.path(), Environment("APPTAINER_CONTAINER", "/a.sif")), "Apptainer");
}

TEST(ContainerChecks, LimitsAndWhatItLacks) {
  const FakeRoot root;
  root.Write(".dockerenv", "");
  root.Write("proc/self/status", "Name:\tanalyze\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n");
  root.Write("sys/fs/cgroup/memory.max", "68719476736\n");
  root.Write("sys/fs/cgroup/cpu.max", "800000 100000\n");
  const Checklist lines = CheckContainer(root.path(), {}, "/proc");
  ASSERT_EQ(lines.size(), 2u) << "/proc is no layer of a container";
  EXPECT_EQ(lines[0].text,
            "Docker; 8 processors; memory up to 68.72 GB; system calls are filtered (seccomp); "
            "without SYS_ADMIN (hardware counters where the driver reserves them for "
            "administrators), SYS_NICE (binding memory to a NUMA node), PERFMON (hardware "
            "counters, instead of SYS_ADMIN)");
  EXPECT_EQ(lines[1].status, CheckStatus::kOk) << lines[1].text;
}

// A step of a job, with version 1 of control groups: the limits are those of the job.
TEST(ContainerChecks, LimitsOfTheGroupsAbove) {
  const FakeRoot root;
  root.Write(".dockerenv", "");
  root.Write("proc/self/status", "CapEff:\t000001ffffffffff\nSeccomp:\t0\n");
  root.Write("proc/self/cgroup", "4:memory:/job_7/step_0\n3:cpu,cpuacct:/job_7/step_0\n");
  root.Write("sys/fs/cgroup/memory/job_7/memory.limit_in_bytes", "17179869184\n");
  root.Write("sys/fs/cgroup/cpu/job_7/cpu.cfs_quota_us", "100000\n");
  root.Write("sys/fs/cgroup/cpu/job_7/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CheckContainer(root.path(), {}, "/proc")[0].text,
            "Docker; 1 processor; memory up to 17.18 GB");
}

TEST(ContainerChecks, WithoutLimits) {
  const FakeRoot root;
  root.Write(".dockerenv", "");
  root.Write("proc/self/status", "CapEff:\t000001ffffffffff\nSeccomp:\t0\n");
  root.Write("sys/fs/cgroup/memory.max", "max\n");
  root.Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(CheckContainer(root.path(), {}, "/proc")[0].text, "Docker");
}

TEST(ContainerChecks, WhatIsPreloaded) {
  EXPECT_TRUE(CheckPreloaded({}).empty());
  EXPECT_TRUE(CheckPreloaded(Environment("LD_PRELOAD", "libjemalloc.so.2")).empty())
      << "the loader looks for it";
  const Checklist gone =
      CheckPreloaded(Environment("LD_PRELOAD", "/kit/libtraceinject.so:/proc/self/exe"));
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].status, CheckStatus::kFail);
  EXPECT_EQ(gone[0].text, "/kit/libtraceinject.so is not there");
  const FakeRoot root;
  root.Write("libtraceinject.so", "");
  const Checklist there =
      CheckPreloaded(Environment("LD_PRELOAD", "a.so " + (root / "libtraceinject.so")));
  ASSERT_EQ(there.size(), 1u);
  EXPECT_EQ(there[0].status, CheckStatus::kOk);
}

}  // namespace
}  // namespace traceinject
