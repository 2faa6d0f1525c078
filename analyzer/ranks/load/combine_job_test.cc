// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/load/combine_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace traceinject {
namespace {

constexpr std::int64_t kBaseNs = 1'700'000'000'000'000'000;

RankSummary Summary(int rank, int world_size) {
  RankSummary summary;
  summary.path = "run.rank" + std::to_string(rank) + ".db";
  summary.host = "node-" + std::to_string(rank / 8);
  summary.run_id = "job-1";
  summary.rank = rank;
  summary.world_size = world_size;
  summary.pid = 100 + rank;
  summary.start = 10;
  summary.end = 1'000;
  return summary;
}

SummarizedFile File(RankSummary summary, std::int64_t base_ns = kBaseNs) {
  Job job;
  job.base_ns = base_ns;
  const std::string path = summary.path;
  job.ranks.push_back(std::move(summary));
  return {path, std::move(job)};
}

SummarizedFile Unreadable(const std::string& path) { return {path, Error{path + ": is empty"}}; }

void AddOperations(int count, RankSummary& to) {
  GroupOperations group;
  for (int i = 0; i < count; ++i) group.start.push_back(i);
  to.groups.push_back(std::move(group));
}

Job Combined(std::vector<SummarizedFile> files) {
  auto job = CombineJob(std::move(files), {});
  EXPECT_TRUE(job.ok()) << job.error();
  return job.ok() ? std::move(job).value() : Job();
}

using Texts = std::vector<std::string>;

TEST(CombineJobTest, AllTimesAreOnTheSmallestBase) {
  RankSummary late = Summary(1, 2);
  late.steps.resize(1);
  late.steps[0].time = {20, 30};
  GroupOperations group;
  group.start = {21, 25};
  group.end = {22, 26};
  group.launch = {19, kOpen};
  late.groups = {group};
  late.hung.resize(1);
  late.hung[0].since = 29;
  const Job job = Combined({File(late, kBaseNs + 500), File(Summary(0, 2))});
  EXPECT_EQ(job.base_ns, kBaseNs);
  EXPECT_EQ(job.notes, Texts{});
  ASSERT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.ranks[0].rank, 0);
  EXPECT_EQ(job.ranks[0].start, 10);
  const RankSummary& shifted = job.ranks[1];
  EXPECT_EQ(shifted.start, 510);
  EXPECT_EQ(shifted.end, 1'500);
  EXPECT_EQ(shifted.steps[0].time, (Interval{520, 530}));
  EXPECT_EQ(shifted.groups[0].start, (std::vector<TimeNs>{521, 525}));
  EXPECT_EQ(shifted.groups[0].end, (std::vector<TimeNs>{522, 526}));
  EXPECT_EQ(shifted.groups[0].launch, (std::vector<TimeNs>{519, kOpen}));
  EXPECT_EQ(shifted.hung[0].since, 529);
}

TEST(CombineJobTest, MissingRanksAreNamed) {
  std::vector<SummarizedFile> files;
  for (int rank = 0; rank < 64; ++rank) {
    if (rank != 3 && (rank < 7 || rank > 9)) files.push_back(File(Summary(rank, 64)));
  }
  EXPECT_EQ(Combined(files).notes, Texts{"ranks 3, 7-9 of 64 are missing"});
  std::vector<SummarizedFile> two = {File(Summary(1, 2))};
  EXPECT_EQ(Combined(two).notes, Texts{"rank 0 of 2 is missing"});
}

TEST(CombineJobTest, WhatCannotBeReadIsANote) {
  const Job job = Combined({File(Summary(0, 1)), Unreadable("a.db")});
  EXPECT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.notes, Texts{"left out: a.db: is empty"});
  const auto none = CombineJob({Unreadable("a.db"), Unreadable("b.db")}, {});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error(), "a.db: is empty\n(and 1 more file: none could be read)");
  EXPECT_FALSE(CombineJob({}, {}).ok());
}

TEST(CombineJobTest, OtherAttemptsAreLeftOut) {
  RankSummary old = Summary(1, 2);
  old.run_id = "job-0";
  const Job job = Combined({File(old, kBaseNs - 1'000), File(Summary(0, 2))});
  ASSERT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.ranks[0].run_id, "job-1");
  ASSERT_EQ(job.notes.size(), 2U);
  EXPECT_NE(job.notes[0].find("only the newest attempt was read (run id 'job-1')"),
            std::string::npos);
  EXPECT_NE(job.notes[0].find("run.rank1.db"), std::string::npos);
  EXPECT_EQ(job.notes[1], "rank 1 of 2 is missing");
}

TEST(CombineJobTest, StaleTracesThatDoNotTellTheirAttemptAreLeftOut) {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  RankSummary old = Summary(1, 2), fresh = Summary(0, 2);
  old.run_id = fresh.run_id = "";
  EXPECT_EQ(Combined({File(old, kBaseNs + 1'000'000'000), File(fresh)}).ranks.size(), 2U);
  const Job job = Combined({File(old), File(fresh, kBaseNs + kHourNs)});
  ASSERT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.ranks[0].rank, 0);
  EXPECT_EQ(job.notes, (Texts{"left out, because they ended long before others began: run.rank1.db",
                              "rank 1 of 2 is missing"}));
}

TEST(CombineJobTest, OtherWorldsAndProcessesWithoutARankAreLeftOut) {
  RankSummary other = Summary(1, 4), stray = Summary(-1, 0);
  other.path = "other.db";
  stray.path = "stray.db";
  const Job job = Combined({File(Summary(0, 2)), File(Summary(1, 2)), File(other), File(stray)});
  EXPECT_EQ(job.ranks.size(), 2U);
  EXPECT_EQ(job.notes, (Texts{"left out, processes that are not ranks of the job: stray.db",
                              "left out, from a job with a size other than 2 ranks: other.db"}));
  // Where nobody has a rank all are kept.
  RankSummary second = stray;
  second.pid = 5;
  const Job alone = Combined({File(stray), File(second)});
  EXPECT_EQ(alone.ranks.size(), 2U);
  EXPECT_EQ(alone.notes, Texts{});
}

TEST(CombineJobTest, OfOneRankOneRecordingIsKept) {
  // A restart in place: the later one.
  RankSummary again = Summary(0, 1);
  again.path = "again.db";
  again.pid = 7;
  again.start = 2'000;
  again.end = 3'000;
  Job job = Combined({File(Summary(0, 1)), File(again)});
  ASSERT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.ranks[0].path, "again.db");
  ASSERT_EQ(job.notes.size(), 1U);
  EXPECT_NE(job.notes[0].find("run.rank0.db"), std::string::npos);
  // A child of the process: that which communicates.
  RankSummary parent = Summary(0, 1), child = Summary(0, 1);
  AddOperations(5, parent);
  child.path = "child.db";
  child.pid = 7;
  child.start = 500;
  job = Combined({File(child), File(parent)});
  ASSERT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.ranks[0].path, "run.rank0.db");
  // Devices of one process are no such thing.
  RankSummary second = Summary(0, 1);
  second.device = 1;
  EXPECT_EQ(Combined({File(Summary(0, 1)), File(second)}).ranks.size(), 2U);
}

TEST(CombineJobTest, TheSameSummaryTwiceCountsOnce) {
  const Job job = Combined({File(Summary(0, 1)), File(Summary(0, 1))});
  EXPECT_EQ(job.ranks.size(), 1U);
  EXPECT_EQ(job.notes, Texts{});
  RankSummary stray = Summary(-1, 0);
  EXPECT_EQ(Combined({File(stray), File(stray)}).ranks.size(), 1U);
}

TEST(CombineJobTest, TheOrderOfFilesDoesNotMatter) {
  std::vector<SummarizedFile> files = {Unreadable("b.db"), Unreadable("c.db")};
  for (int rank = 0; rank < 8; ++rank) {
    RankSummary summary = Summary(rank, 10), other = summary;
    files.push_back(File(summary, kBaseNs + rank));
    files.back().job.value().notes = {summary.path + ": a note"};
    other.path += ".1";
    other.pid += 50;
    AddOperations(rank, other);
    files.push_back(File(other));
  }
  std::mt19937 engine(1);
  const Job first = Combined(files);
  ASSERT_EQ(first.ranks.size(), 8U);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(files.begin(), files.end(), engine);
    const Job other = Combined(files);
    EXPECT_EQ(other.notes, first.notes);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(other.ranks[rank].path, first.ranks[rank].path);
      EXPECT_EQ(other.ranks[rank].start, first.ranks[rank].start);
    }
  }
}

}  // namespace
}  // namespace traceinject
