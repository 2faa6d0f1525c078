// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "viewer/core/testing/random_run.h"

namespace traceinject {
namespace {

const std::atomic<bool> kNotStopped = false;

// The definition, word by word.
NameStatistics Oracle(std::vector<TimeNs> lengths) {
  std::sort(lengths.begin(), lengths.end());
  const auto rank = [&](double share) {
    return lengths[static_cast<std::size_t>(
        std::ceil(share * static_cast<double>(lengths.size()) - 1e-9) - 1)];
  };
  NameStatistics of;
  of.count = lengths.size();
  for (const TimeNs length : lengths) of.total_ns += length;
  of.mean_ns = static_cast<double>(of.total_ns) / static_cast<double>(of.count);
  of.median_ns = rank(0.5);
  of.p99_ns = rank(0.99);
  of.min_ns = lengths.front();
  of.max_ns = lengths.back();
  return of;
}

void ExpectEqual(const NameStatistics& found, const NameStatistics& expected) {
  EXPECT_EQ(found.count, expected.count);
  EXPECT_EQ(found.total_ns, expected.total_ns);
  EXPECT_DOUBLE_EQ(found.mean_ns, expected.mean_ns);
  EXPECT_EQ(found.median_ns, expected.median_ns);
  EXPECT_EQ(found.p99_ns, expected.p99_ns);
  EXPECT_EQ(found.min_ns, expected.min_ns);
  EXPECT_EQ(found.max_ns, expected.max_ns);
}

std::vector<std::uint32_t> RowsOf(const RowModel& model, RowKind kind) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    if (model.rows[row].kind == kind) rows.push_back(row);
  }
  return rows;
}

TEST(StatisticsTest, AgreeWithTheDefinitionOnRandomEvents) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    RandomRun random(seed);
    for (const RowKind kind : {RowKind::kStream, RowKind::kCalls, RowKind::kNvtx}) {
      const TimeNs from = random.Below(RandomRun::kLength);
      const TimeNs to = from + random.Below(RandomRun::kLength - from) + 1;
      std::map<std::string, std::vector<TimeNs>> expected;
      std::vector<TimeNs> all;
      for (const KnownEvent& event : random.events) {
        if (event.kind != kind || event.start < from || event.start >= to) continue;
        expected[event.label].push_back(event.end - event.start);
        all.push_back(event.end - event.start);
      }
      const auto found = ComputeStatistics(random.run, random.model,
                                           {RowsOf(random.model, kind), from, to}, kNotStopped);
      ASSERT_TRUE(found.has_value());
      ASSERT_EQ(found->names.size(), expected.size());
      double shares = 0;
      for (const NameStatistics& name : found->names) {
        SCOPED_TRACE(name.name);
        ExpectEqual(name, Oracle(expected[name.name]));
        shares += name.share;
      }
      if (all.empty()) continue;
      ExpectEqual(found->all, Oracle(all));
      EXPECT_NEAR(shares, found->all.total_ns > 0 ? 1 : 0, 1e-9);
    }
  }
}

TEST(StatisticsTest, NothingInRangeIsNothing) {
  RandomRun random(1, 5);
  const auto found = ComputeStatistics(
      random.run, random.model,
      {RowsOf(random.model, RowKind::kStream), 5 * RandomRun::kLength, 6 * RandomRun::kLength},
      kNotStopped);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->names.empty());
  EXPECT_EQ(found->all.count, 0U);
}

TEST(StatisticsTest, GivesUpWhenCancelled) {
  RandomRun random(1, 5);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(ComputeStatistics(random.run, random.model,
                                 {RowsOf(random.model, RowKind::kStream), 0, RandomRun::kLength},
                                 cancelled));
}

TEST(StatisticsTest, SortsByEveryColumnBothWays) {
  NameStatistics a, b;
  a.name = "a";
  a.count = 1;
  a.total_ns = a.median_ns = a.p99_ns = a.min_ns = a.max_ns = 10;
  a.mean_ns = 10;
  b.name = "b";
  b.count = 2;
  b.total_ns = b.median_ns = b.p99_ns = b.min_ns = b.max_ns = 20;
  b.mean_ns = 20;
  for (const StatisticsColumn column :
       {StatisticsColumn::kName, StatisticsColumn::kCount, StatisticsColumn::kTotal,
        StatisticsColumn::kShare, StatisticsColumn::kMean, StatisticsColumn::kMedian,
        StatisticsColumn::kP99, StatisticsColumn::kMin, StatisticsColumn::kMax}) {
    std::vector<NameStatistics> names = {a, b};
    SortStatistics(names, column, true);
    EXPECT_EQ(names.front().name, "b");
    SortStatistics(names, column, false);
    EXPECT_EQ(names.front().name, "a");
  }
}

TEST(StatisticsTest, GroupsOfRowsLeaveOutSummaries) {
  const RandomRun random(1, 50);
  const std::vector<RowGroup> groups = RowGroups(random.model);
  ASSERT_EQ(groups.size(), 5U);
  EXPECT_EQ(groups[0].title, "GPU operations");
  EXPECT_EQ(groups[0].rows, RowsOf(random.model, RowKind::kStream));
  EXPECT_EQ(groups[1].rows, RowsOf(random.model, RowKind::kNvtx));
  EXPECT_EQ(groups[2].rows, RowsOf(random.model, RowKind::kCalls));
  EXPECT_EQ(groups[3].rows, RowsOf(random.model, RowKind::kSteps));
  EXPECT_EQ(groups[4].rows, RowsOf(random.model, RowKind::kIdle));
}

TEST(StatisticsTest, AGpuStandsForItsStreams) {
  const RandomRun random(1, 50);
  const std::uint32_t gpu = RowsOf(random.model, RowKind::kDevice)[1];
  const RowGroup group = GroupOfRow(random.model, gpu);
  ASSERT_EQ(group.rows.size(), 3U);
  for (const std::uint32_t row : group.rows) {
    EXPECT_EQ(random.model.rows[row].kind, RowKind::kStream);
    EXPECT_EQ(random.model.rows[row].rank, 1U);
  }
  EXPECT_EQ(GroupOfRow(random.model, group.rows[0]).rows, std::vector{group.rows[0]});
}

}  // namespace
}  // namespace traceinject
