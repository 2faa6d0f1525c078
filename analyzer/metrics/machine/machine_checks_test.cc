// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/machine_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace traceinject {
namespace {

using Facts = std::vector<SystemFact>;

const MachineUse kEverything{{"0000:18:00.0", "0000:19:00.0"}, true, true, true};

// Texts by check; of a GPU with its number in front.
std::map<std::string, std::string> FoundIn(const Facts& facts,
                                           const MachineUse& use = kEverything) {
  std::map<std::string, std::string> found;
  for (const HygieneProof& proof : CheckMachine(facts, use)) {
    EXPECT_EQ(std::ranges::count(HygieneChecks(), proof.check, &HygieneCheck::name), 1);
    std::string& text = found[std::string(proof.check)];
    text += text.empty() ? "" : " | ";
    if (proof.of == HygieneProof::Of::kGpu) text += std::to_string(proof.gpu) + " ";
    text += proof.text;
  }
  return found;
}

using Expected = std::map<std::string, std::string>;

// Two nodes; the process runs on `cpus`.
Facts OnCpus(const std::string& cpus) {
  return {{"host", "cpu_affinity", cpus, ""},
          {"host", "numa_cpus.0", "0-31,64-95", ""},
          {"host", "numa_cpus.1", "32-63,96-127", ""},
          {"gpu", "0.numa_node", "1", ""}};
}

TEST(MachineChecks, AMachineInOrder) {
  Facts facts = OnCpus("32-40");
  const Facts more = {{"host", "cpu_governor", "performance", ""},
                      {"host", "shared_memory_kib", "33554432", ""},
                      {"host", "open_files_most", "65536", ""},
                      {"host", "locked_memory_most", "unlimited", ""},
                      {"infiniband", "mlx5_0.1", "ACTIVE, 400 Gb/sec (4X NDR), InfiniBand", ""},
                      {"gpu", "0.persistence_mode", "on", ""},
                      {"gpu", "0.acs", "off", ""},
                      {"nvlink", "0.0", "active, to 00000000:98:00.0", ""},
                      {"p2p", "0 00000000:19:00.0", "read: ok, write: ok, NVLink: ok", ""},
                      {"env", "NCCL_P2P_DISABLE", "0", ""},
                      {"env", "CUDA_LAUNCH_BLOCKING", "0", ""},
                      {"env", "TORCH_DISTRIBUTED_DEBUG", "INFO", ""}};
  facts.insert(facts.end(), more.begin(), more.end());
  EXPECT_EQ(FoundIn(facts), Expected{});
}

TEST(MachineChecks, WhatIsUnknownStaysUnsaid) {
  const std::string why = "may not be read";
  EXPECT_EQ(FoundIn({{"host", "cpu_governor", "", why},
                     {"host", "shared_memory_kib", "", why},
                     {"host", "open_files_most", "", why},
                     {"gpu", "0.persistence_mode", "", why},
                     {"gpu", "0.acs", "", why},
                     {"gpu", "0.numa_node", "1", ""},
                     {"host", "cpu_affinity", "0-3", ""}}),
            Expected{});
  EXPECT_EQ(FoundIn({}), Expected{});
}

TEST(MachineChecks, TheNodeOfTheGpu) {
  EXPECT_EQ(
      FoundIn(OnCpus("0-31")),
      (Expected{
          {"numa_wrong",
           "0 the process runs on CPUs 0-31; the GPU is on NUMA node 1 (CPUs 32-63,96-127)"}}));
  const Expected unbound = {{"numa_unbound",
                             "0 the process may run on CPUs 0-127, on several NUMA nodes; the GPU "
                             "is on NUMA node 1 (CPUs 32-63,96-127)"}};
  EXPECT_EQ(FoundIn(OnCpus("0-127")), unbound);
  EXPECT_EQ(FoundIn(OnCpus("96-127")), Expected{});
  MachineUse use = kEverything;
  use.trains = false;
  EXPECT_EQ(FoundIn(OnCpus("0-127"), use), Expected{}) << "a shell need not be bound";
}

TEST(MachineChecks, SettingsOfTheHost) {
  const Facts facts = {{"host", "cpu_governor", "performance 2, powersave 62", ""},
                       {"host", "shared_memory_kib", "65536", ""},
                       {"host", "open_files_most", "1024", ""},
                       {"host", "locked_memory_most", "8388608", ""},
                       {"infiniband", "mlx5_0.1", "ACTIVE, 400 Gb/sec (4X NDR), InfiniBand", ""}};
  EXPECT_EQ(
      FoundIn(facts),
      (Expected{{"cpu_governor", "the CPU frequency governor is performance 2, powersave 62"},
                {"shared_memory", "/dev/shm size is 67.11 MB"},
                {"open_files", "the limit on open files is 1,024"},
                {"locked_memory",
                 "the limit on locked memory is 8.389 MB, and there is InfiniBand or RoCE"}}));
  Facts without = facts;
  without.pop_back();
  EXPECT_EQ(FoundIn(without, {}).size(), 1u) << "a process alone, without workers and adapters";
}

TEST(MachineChecks, Gpus) {
  const Facts facts = {{"gpu", "1.persistence_mode", "off", ""},
                       {"gpu", "1.acs", "on at 0000:17:01.0 0x1d", ""},
                       {"nvlink", "1.0", "active, to 00000000:98:00.0", ""},
                       {"nvlink", "1.1", "inactive", ""},
                       {"nvlink", "0.0", "inactive", ""},  // a card without bridges
                       {"p2p", "1 00000000:18:00.0", "read: chipset not supported, write: ok", ""},
                       {"p2p", "1 00000000:3B:00.0", "read: chipset not supported, write: ok", ""}};
  const Expected expected = {
      {"persistence_off", "1 persistence mode is off"},
      {"acs",
       "1 Access Control Services (ACS) are on at the PCIe bridges above it: 0000:17:01.0 0x1d"},
      {"nvlink_inactive", "1 1 of 2 NVLink links are inactive"},
      {"p2p_off",
       "1 no peer-to-peer access to 1 of the 1 other GPUs of this host: chipset not supported"}};
  EXPECT_EQ(FoundIn(facts), expected);
  EXPECT_EQ(FoundIn(facts, {}).count("acs"), 0u) << "a GPU alone has no peers";
  EXPECT_EQ(FoundIn(facts, {}).count("p2p_off"), 0u);
}

TEST(MachineChecks, Variables) {
  const Facts facts = {{"env", "CUDA_LAUNCH_BLOCKING", "1", ""},
                       {"env", "TORCH_DISTRIBUTED_DEBUG", "DETAIL", ""},
                       {"env", "NCCL_IB_DISABLE", "1", ""},
                       {"env", "NCCL_P2P_LEVEL", "LOC", ""}};
  EXPECT_EQ(FoundIn(facts),
            (Expected{{"blocking_launches", "CUDA_LAUNCH_BLOCKING=1 is set"},
                      {"debug_checks", "TORCH_DISTRIBUTED_DEBUG=DETAIL is set"},
                      {"nccl_settings", "NCCL_IB_DISABLE=1 is set | NCCL_P2P_LEVEL=LOC is set"}}));
  EXPECT_EQ(FoundIn(facts, {}).count("nccl_settings"), 0u) << "nobody to talk to";
}

TEST(MachineChecks, SpellingsOfAPlace) {
  EXPECT_EQ(PciPlace("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(PciPlace("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(PciPlace("00010000:00:00.0"), "10000:00:00.0") << "a domain of a virtual machine";
}

}  // namespace
}  // namespace traceinject
