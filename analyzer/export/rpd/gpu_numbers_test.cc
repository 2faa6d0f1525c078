// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/rpd/gpu_numbers.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

Rank RankOn(const std::string& host, const std::vector<std::pair<int, std::string>>& gpus) {
  Rank rank;
  rank.process.host = host;
  for (const auto& [ordinal, uuid] : gpus) {
    Device& device = rank.devices.emplace_back();
    device.ordinal = ordinal;
    device.uuid = uuid;
  }
  return rank;
}

TEST(GpuNumbers, AreThoseOfCudaWhereTheseTellGpusApart) {
  traceinject::Run run;
  run.ranks = {RankOn("a", {{0, "A"}, {3, "B"}}), RankOn("a", {{0, "A"}, {1, "C"}}),
               RankOn("b", {{0, "D"}})};
  const GpuNumbers numbers(run);
  EXPECT_EQ(numbers.NodeOf(0), 0);
  EXPECT_EQ(numbers.NodeOf(1), 0);
  EXPECT_EQ(numbers.NodeOf(2), 1);
  EXPECT_EQ(numbers.GpuOf(0, 1), 3);
  EXPECT_EQ(numbers.GpuOf(1, 0), 0);
  EXPECT_EQ(numbers.GpuOf(1, 1), 1);
  EXPECT_EQ(numbers.GpuOf(2, 0), 0);
}

TEST(GpuNumbers, CountTheGpusWhereEachRankSeesItsOwnAsTheFirst) {
  traceinject::Run run;
  run.ranks = {RankOn("a", {{0, "A"}}), RankOn("a", {{0, "B"}}), RankOn("a", {{0, "A"}}),
               RankOn("a", {{0, ""}}), RankOn("a", {{0, ""}})};
  const GpuNumbers numbers(run);
  EXPECT_EQ(numbers.GpuOf(0, 0), 0);
  EXPECT_EQ(numbers.GpuOf(1, 0), 1);
  EXPECT_EQ(numbers.GpuOf(2, 0), 0) << "the same GPU";
  EXPECT_EQ(numbers.GpuOf(3, 0), 2);
  EXPECT_EQ(numbers.GpuOf(4, 0), 3) << "nobody knows which";
}

}  // namespace
}  // namespace traceinject
