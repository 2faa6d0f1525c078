// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/machine/hygiene.h"

#include <gtest/gtest.h>

#include <set>

#include "analyzer/metrics/machine/hygiene_checks.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

using Lines = std::vector<std::string>;

// A rank of two with a GPU of its own and these facts.
Rank RankWith(int number, std::vector<SystemFact> facts, const std::string& host = "a") {
  RankBuilder builder;
  Rank& rank = builder.rank();
  rank.rank = number;
  rank.process.world_size = 2;
  rank.process.host = host;
  rank.facts = std::move(facts);
  rank.devices[0].pci_bus_id = number == 0 ? "0000:18:00.0" : "0000:19:00.0";
  builder.AddKernel(1000, 2000, "ampere_sgemm_128x64_nn");
  return rank;
}

Lines HygieneOf(const traceinject::Run& run) {
  Lines lines;
  const Report report = BuildReport(run, {});
  for (const proto::HygieneFinding& finding : report.hygiene()) {
    EXPECT_FALSE(finding.change().empty());
    EXPECT_FALSE(finding.source().empty());
    lines.push_back(finding.severity() + " " + finding.name() + ": " + finding.text());
  }
  return lines;
}

TEST(Hygiene, EveryCheckHasItsWordsAndTheWorstComeFirst) {
  std::set<std::string_view> names;
  HygieneSeverity last = HygieneSeverity::kFault;
  for (const HygieneCheck& check : HygieneChecks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_FALSE(check.title.empty() || check.change.empty() || check.source.empty()) << check.name;
    EXPECT_LE(check.severity, last) << check.name;
    last = check.severity;
  }
}

TEST(Hygiene, ARunInOrderHasNone) {
  traceinject::Run run;
  run.ranks = {RankWith(0, {}), RankWith(1, {})};
  EXPECT_EQ(HygieneOf(run), Lines{});
  EXPECT_EQ(HygieneOf({}), Lines{});
}

TEST(Hygiene, WhatRanksHaveInCommonIsToldOnce) {
  const std::vector<SystemFact> facts = {{"host", "cpu_governor", "powersave", ""},
                                         {"gpu", "0.persistence_mode", "off", ""},
                                         {"env", "NCCL_P2P_DISABLE", "1", ""}};
  traceinject::Run run;
  run.ranks = {RankWith(0, facts), RankWith(1, facts)};
  EXPECT_EQ(HygieneOf(run),
            (Lines{"warning nccl_settings: rank 0, rank 1: NCCL_P2P_DISABLE=1 is set",
                   "note cpu_governor: the CPU frequency governor is powersave",
                   "note persistence_off: rank 0 GPU 0, rank 1 GPU 0: persistence mode is off"}));
  run.ranks[1].process.host = "b";
  EXPECT_EQ(HygieneOf(run)[1], "note cpu_governor: a, b: the CPU frequency governor is powersave");
}

TEST(Hygiene, PeersAreThoseOfTheJobOnOneHost) {
  const std::vector<SystemFact> facts = {
      {"p2p", "0 00000000:19:00.0", "read: not supported, write: ok", ""}};
  traceinject::Run run;
  run.ranks = {RankWith(0, facts), RankWith(1, {})};
  ASSERT_EQ(HygieneOf(run).size(), 1u);
  run.ranks[1].process.host = "b";
  EXPECT_EQ(HygieneOf(run), Lines{}) << "the other GPU is that of another host";
}

TEST(Hygiene, ModelsThatDiffer) {
  traceinject::Run run;
  run.ranks = {RankWith(0, {}), RankWith(1, {})};
  run.ranks[1].devices[0].name = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(HygieneOf(run), Lines{"warning mixed_gpus: mixed GPU models in one job: 1 x NVIDIA "
                                  "A100-SXM4-80GB, 1 x NVIDIA H200"});
}

TEST(Hygiene, ConnectionsOfNccl) {
  traceinject::Run run;
  run.ranks = {RankWith(0, {}), RankWith(1, {})};
  NcclLink link;
  link.rank = 0;
  link.peer = 1;
  link.transport = "SHM";
  link.channels = 2;
  run.ranks[0].nccl_links = {link};
  EXPECT_EQ(HygieneOf(run),
            Lines{"warning nccl_host_memory: 1 pair of ranks exchanges data through "
                  "host memory (SHM), not GPU to GPU"});
}

TEST(Hygiene, SharedMemoryMattersToDataWorkers) {
  const std::vector<SystemFact> facts = {{"host", "shared_memory_kib", "65536", ""}};
  traceinject::Run run;
  run.ranks = {RankWith(0, facts)};
  EXPECT_EQ(HygieneOf(run), Lines{});
  run.ranks[0].loaders.emplace_back().workers = 2;
  EXPECT_EQ(HygieneOf(run), Lines{"warning shared_memory: /dev/shm size is 67.11 MB"});
}

TEST(Hygiene, SamplesOfADevice) {
  traceinject::Run run;
  run.ranks = {RankWith(
      0, {{"gpu", "0.pcie_generation_most", "5", ""}, {"gpu", "0.pcie_width_most", "16", ""}})};
  DeviceSamples& clocks = run.ranks[0].devices[0].samples;
  clocks.time = {1500};
  for (auto* column :
       {&clocks.sm_clock_mhz, &clocks.memory_clock_mhz, &clocks.power_mw, &clocks.temperature_c,
        &clocks.throttle_reasons, &clocks.sm_utilisation_pct, &clocks.memory_utilisation_pct})
    column->push_back(-1);
  clocks.memory_used_bytes.push_back(-1);
  DeviceSlowSamples& samples = run.ranks[0].devices[0].slow_samples;
  samples.time = {1500};
  samples.pcie_generation.push_back(5);
  samples.pcie_width.push_back(8);
  for (auto* column : {&samples.pcie_tx_bytes_s, &samples.pcie_rx_bytes_s, &samples.pcie_replays,
                       &samples.nvlink_tx_bytes, &samples.nvlink_rx_bytes, &samples.nvlink_replays,
                       &samples.nvlink_recoveries, &samples.nvlink_crc_errors,
                       &samples.ecc_corrected, &samples.ecc_uncorrected})
    column->push_back(-1);
  EXPECT_EQ(HygieneOf(run), Lines{"warning pcie_link: rank 0 GPU 0: PCIe generation 5 x8 at best, "
                                  "although card and slot support generation 5 x16"});
}

}  // namespace
}  // namespace traceinject
