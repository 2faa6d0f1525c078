// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/find.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "analyzer/view/rows/contains_text.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/statistics.h"
#include "viewer/core/testing/random_run.h"

namespace traceinject {
namespace {

const std::atomic<bool> kGoOn = false;

// Those with events that were recorded, not what was made of them.
std::vector<std::uint32_t> AllRows(const RowModel& model) {
  std::vector<std::uint32_t> rows;
  for (const RowGroup& group : RowGroups(model)) {
    const RowKind kind = model.rows[group.rows.front()].kind;
    if (kind == RowKind::kSteps || kind == RowKind::kIdle) continue;
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  }
  return rows;
}

FindQuery QueryFor(const RandomRun& random, const std::string& text) {
  FindQuery query;
  query.text = text;
  query.rows = AllRows(random.model);
  return query;
}

std::string Lowered(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

TEST(FindTest, FindsWhatAScanOfTheTextsFinds) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    RandomRun random(seed);
    for (const std::string text : {"GEMM", "o", "step 3", "Device", "nowhere", ""}) {
      FindQuery query = QueryFor(random, text);
      query.shortest_ns = random.Below(50);
      query.longest_ns = 100 + random.Below(10'000);
      std::vector<TimeNs> expected;
      std::size_t any_length = 0;
      for (const KnownEvent& event : random.events) {
        // Kernels are found by their whole name too.
        const bool kernel = event.label == "gemm" || event.label == "norm";
        const std::string name = kernel ? "void " + event.label : event.label;
        if (Lowered(name).find(Lowered(text)) == std::string::npos) continue;
        ++any_length;
        const TimeNs length = event.end - event.start;
        if (length >= query.shortest_ns && length < query.longest_ns) {
          expected.push_back(event.start);
        }
      }
      std::sort(expected.begin(), expected.end());
      const auto found = FindEvents(random.run, random.model, query, kGoOn);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->count, expected.size()) << text;
      std::vector<TimeNs> starts;
      TimeNs total = 0;
      for (const EventRef& hit : found->hits) {
        const auto [start, end] = EventTimes(random.run, random.model, hit);
        starts.push_back(start);
        total += end - start;
      }
      EXPECT_EQ(starts, expected);
      EXPECT_EQ(total, found->total_ns);
      EXPECT_EQ(std::accumulate(found->lengths.begin(), found->lengths.end(), std::size_t{0}),
                any_length);
    }
  }
}

TEST(FindTest, AWholeNameIsNoPart) {
  RandomRun random(1, 300);
  FindQuery query = QueryFor(random, "Step 3");
  const std::size_t parts = FindEvents(random.run, random.model, query, kGoOn)->count;
  query.whole = true;
  EXPECT_EQ(FindEvents(random.run, random.model, query, kGoOn)->count, parts);
  query.text = "Step";
  EXPECT_EQ(FindEvents(random.run, random.model, query, kGoOn)->count, 0U);
}

TEST(FindTest, MarksLieWhereHitsAre) {
  RandomRun random(3, 30);
  const auto found = FindEvents(random.run, random.model, QueryFor(random, "gemm"), kGoOn);
  ASSERT_EQ(found->marks.size(), FindResult::kMarks);
  const RowModel& model = random.model;
  const auto span = static_cast<double>(model.end - model.start);
  std::vector<bool> expected(FindResult::kMarks, false);
  for (const EventRef& hit : found->hits) {
    const auto since = static_cast<double>(model.lane(hit).start(hit.event) - model.start);
    expected[static_cast<std::size_t>(since / span * FindResult::kMarks)] = true;
  }
  EXPECT_EQ(found->marks, expected);
}

TEST(FindTest, GivesUpWhenCancelled) {
  RandomRun random(1, 5);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(FindEvents(random.run, random.model, QueryFor(random, "a"), cancelled));
}

TEST(FindTest, MoreHitsThanAreListedAreCountedAndTheFirstOnesKept) {
  RankBuilder builder;
  const int events = 2 * static_cast<int>(FindResult::kMaxHits) + 1000;
  for (int i = 0; i < events; ++i) builder.AddApi(10 * i, 10 * i + 5, "cudaLaunchKernel");
  traceinject::Run run;
  run.ranks.push_back(std::move(builder.rank()));
  const RowModel model = BuildRows(run);
  FindQuery query;
  query.rows = AllRows(model);
  const auto found = FindEvents(run, model, query, kGoOn);
  EXPECT_EQ(found->count, static_cast<std::size_t>(events));
  ASSERT_EQ(found->hits.size(), FindResult::kMaxHits);
  EXPECT_EQ(found->hits.front().event, 0U);
  EXPECT_EQ(found->hits.back().event, FindResult::kMaxHits - 1);
}

TEST(LengthBinsTest, EveryLengthLiesInItsBin) {
  std::mt19937_64 random(5);
  std::vector<TimeNs> lengths = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, kOpen - 1};
  for (int i = 0; i < 1000; ++i) {
    lengths.push_back(static_cast<TimeNs>(random() >> (1 + random() % 60)));
  }
  for (const TimeNs length : lengths) {
    const std::size_t bin = LengthBins::Of(length);
    ASSERT_LT(bin, LengthBins::kCount);
    EXPECT_LE(LengthBins::Start(bin), length);
    EXPECT_GT(LengthBins::Start(bin + 1), length) << bin;
  }
}

TEST(ContainsTextTest, IgnoresCaseOfAscii) {
  EXPECT_TRUE(ContainsText("ncclDevKernel_AllReduce", "allreduce"));
  EXPECT_TRUE(ContainsText("abc", ""));
  EXPECT_TRUE(ContainsText("", ""));
  EXPECT_FALSE(ContainsText("", "a"));
  EXPECT_FALSE(ContainsText("ab", "abc"));
}

}  // namespace
}  // namespace traceinject
