// SPDX-License-Identifier: Apache-2.0
#include "machine/system_facts.h"

#include <gtest/gtest.h>

#include "machine/testing/fake_root.h"

namespace traceinject {
namespace {

std::string Value(const std::vector<SystemFactRow>& facts, const std::string& key) {
  for (const SystemFactRow& fact : facts) {
    if (fact.key == key) return fact.reason.empty() ? fact.value : "unknown: " + fact.reason;
  }
  return "absent";
}

DeviceRow DeviceAt(const std::string& bus_id) {
  DeviceRow device{};
  device.pci_bus_id = bus_id;
  return device;
}

// The configuration of a PCI function with an ACS capability at 0x148, behind another one.
std::string Config(unsigned char control, std::size_t size = 4096) {
  std::string config(4096, '\0');
  const auto put = [&](std::size_t at, std::initializer_list<int> bytes) {
    for (const int byte : bytes) config[at++] = static_cast<char>(byte);
  };
  put(0x100, {0x01, 0x00, 0x81, 0x14});  // AER, the next at 0x148
  put(0x148, {0x0D, 0x00, 0x01, 0x00});
  put(0x14E, {control, 0x00});
  return config.substr(0, size);
}

TEST(HostFacts, WhatTheMachineTells) {
  const FakeRoot root;
  root.Write("proc/sys/kernel/osrelease", "6.1.0\n");
  root.Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t: x\n");
  root.Write("proc/self/status", "Name:\tpython\nCpus_allowed_list:\t0-7,16-23\n");
  root.Write("sys/devices/system/cpu/online", "0-63\n");
  root.Write("sys/devices/system/node/online", "0-1\n");
  root.Write("sys/fs/cgroup/cpu.max", "800000 100000\n");
  root.Write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  root.Write("sys/class/iommu/dmar0/x", "");
  for (const char* cpu : {"cpu0", "cpu1"})
    root.Write(std::string("sys/devices/system/cpu/") + cpu + "/cpufreq/scaling_governor",
               "performance\n");
  const auto facts = ReadHostFacts(root.path());
  EXPECT_EQ(Value(facts, "kernel"), "6.1.0");
  EXPECT_EQ(Value(facts, "cpu_model"), "AMD EPYC 9654");
  EXPECT_EQ(Value(facts, "cpu_affinity"), "0-7,16-23");
  EXPECT_EQ(Value(facts, "cpus_online"), "0-63");
  EXPECT_EQ(Value(facts, "numa_nodes"), "0-1");
  EXPECT_EQ(Value(facts, "cpu_quota"), "800000 100000");
  EXPECT_EQ(Value(facts, "transparent_huge_pages"), "madvise");
  EXPECT_EQ(Value(facts, "iommu"), "on");
  EXPECT_EQ(Value(facts, "cpu_governor"), "performance");
}

TEST(HostFacts, ProcessorsOfTheNodes) {
  const FakeRoot root;
  root.Write("sys/devices/system/node/node0/cpulist", "0-31,64-95\n");
  root.Write("sys/devices/system/node/node1/cpulist", "32-63,96-127\n");
  root.Write("sys/devices/system/node/possible", "0-1\n");
  const auto facts = ReadHostFacts(root.path());
  EXPECT_EQ(Value(facts, "numa_cpus.0"), "0-31,64-95");
  EXPECT_EQ(Value(facts, "numa_cpus.1"), "32-63,96-127");
  EXPECT_EQ(Value(facts, "numa_cpus.2"), "absent");
}

TEST(HostFacts, SharedMemory) {
  const FakeRoot root;
  const std::string proc = "proc /proc proc rw 0 0\n";
  root.Write("proc/self/mounts", proc + "shm /dev/shm tmpfs rw,nosuid,size=65536k,inode64 0 0\n");
  EXPECT_EQ(Value(ReadHostFacts(root.path()), "shared_memory_kib"), "65536");
  root.Write("proc/self/mounts", proc + "tmpfs /dev/shm tmpfs rw,nosuid,nodev 0 0\n" + proc);
  EXPECT_TRUE(Value(ReadHostFacts(root.path()), "shared_memory_kib").starts_with("unknown: "));
  root.Write("proc/meminfo", "MemTotal:       2097152 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(Value(ReadHostFacts(root.path()), "shared_memory_kib"), "1048576");
  root.Write("proc/self/mounts", proc);
  EXPECT_TRUE(Value(ReadHostFacts(root.path()), "shared_memory_kib").starts_with("unknown: "));
}

TEST(HostFacts, LimitsOfTheProcess) {
  const FakeRoot root;
  root.Write("proc/self/limits",
             "Limit                     Soft Limit           Hard Limit           Units     \n"
             "Max open files            1024                 524288               files     \n"
             "Max locked memory         unlimited            unlimited            bytes     \n");
  const auto facts = ReadHostFacts(root.path());
  EXPECT_EQ(Value(facts, "open_files_most"), "1024");
  EXPECT_EQ(Value(facts, "locked_memory_most"), "unlimited");
}

TEST(HostFacts, GovernorsThatDiffer) {
  const FakeRoot root;
  const auto set = [&](const std::string& cpu, const std::string& governor) {
    root.Write("sys/devices/system/cpu/" + cpu + "/cpufreq/scaling_governor", governor + "\n");
  };
  set("cpu0", "performance");
  set("cpu1", "powersave");
  set("cpu2", "performance");
  root.Write("sys/devices/system/cpu/cpufreq/policy0", "");
  EXPECT_EQ(Value(ReadHostFacts(root.path()), "cpu_governor"), "performance 2, powersave 1");
}

TEST(HostFacts, AnEmptyMachineIsUnknownWithReasons) {
  const FakeRoot root;
  for (const SystemFactRow& fact : ReadHostFacts(root.path())) {
    EXPECT_EQ(fact.value, "") << fact.key;
    EXPECT_NE(fact.reason, "") << fact.key;
  }
}

TEST(HostFacts, InfiniBandPorts) {
  const FakeRoot root;
  root.Write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  root.Write("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  root.Write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
  root.Write("sys/class/infiniband/mlx5_0/device/numa_node", "1\n");
  const auto facts = ReadHostFacts(root.path());
  EXPECT_EQ(Value(facts, "mlx5_0.1"), "ACTIVE, 400 Gb/sec (4X NDR), InfiniBand");
  EXPECT_EQ(Value(facts, "mlx5_0.numa_node"), "1");
}

class GpuPlace : public testing::Test {
 protected:
  GpuPlace() {
    root_.Write("sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/numa_node", "1\n");
    root_.Write("sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/iommu_group/type", "DMA-FQ\n");
    root_.Link("sys/bus/pci/devices/0000:18:00.0",
               "../../../devices/pci0000:17/0000:17:01.0/0000:18:00.0");
  }
  void SetBridge(const std::string& config) {
    root_.Write("sys/devices/pci0000:17/0000:17:01.0/config", config);
  }
  std::string Of(const std::string& name) {
    return Value(ReadGpuPlaceFacts(root_.path(), DeviceAt("0000:18:00.0")), "0." + name);
  }

  FakeRoot root_;
};

TEST_F(GpuPlace, NodeAndGroup) {
  EXPECT_EQ(Of("numa_node"), "1");
  EXPECT_EQ(Of("iommu_group_type"), "DMA-FQ");
}

TEST_F(GpuPlace, ANodeThatTheFirmwareDoesNotTell) {
  root_.Write("sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/numa_node", "-1\n");
  EXPECT_EQ(Of("numa_node"), "unknown: not reported by the firmware");
}

TEST_F(GpuPlace, AcsOfTheBridgesAboveIt) {
  SetBridge(Config(0x1D));
  EXPECT_EQ(Of("acs"), "on at 0000:17:01.0 0x1d");
  SetBridge(Config(0));
  EXPECT_EQ(Of("acs"), "off");
}

TEST_F(GpuPlace, AcsIsUnknownToUsersOtherThanRoot) {
  SetBridge(Config(0x1D, 64));
  EXPECT_EQ(Of("acs"), "unknown: PCI configuration beyond 64 bytes is readable by root only");
  root_.Remove("sys/devices/pci0000:17/0000:17:01.0/config");
  EXPECT_TRUE(Of("acs").starts_with("unknown: "));
}

TEST_F(GpuPlace, CapabilitiesThatGoInACircle) {
  std::string config = Config(0x1D);
  config[0x148] = 0x01;  // no ACS; the next is this one
  config[0x14A] = static_cast<char>(0x81);
  config[0x14B] = 0x14;
  SetBridge(config);
  EXPECT_EQ(Of("acs"), "off");
}

TEST(GpuPlaceFacts, ADeviceThatIsNotShown) {
  const FakeRoot root;
  const auto facts = ReadGpuPlaceFacts(root.path(), DeviceAt("0000:AB:00.0"));
  EXPECT_EQ(facts.size(), 3U);
  EXPECT_NE(Value(facts, "0.acs").find("0000:ab:00.0"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
