// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/generated_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/view/rows/event_text.h"

namespace traceinject {
namespace {

TEST(GeneratedRun, HasTheEventsAskedForInEveryKindOfRow) {
  constexpr std::size_t kEvents = 80'000;
  const auto loaded = GenerateRun(kEvents);
  const RowModel& model = loaded->rows;
  std::size_t events = 0, overlapped = 0;
  for (const Row& row : model.rows) {
    if (IsHeading(row.kind)) continue;
    EXPECT_EQ(row.hidden, 0U);
    EXPECT_EQ(row.lanes.empty(), row.counter.has_value()) << row.label;
    if (IsDerived(row.kind)) continue;
    overlapped += row.lanes.size() > 1 ? 1 : 0;
    for (const Lane& lane : row.lanes) {
      events += lane.size();
      EXPECT_GE(lane.start(0), model.start);
      EXPECT_LE(lane.start(lane.size() - 1), model.end);
    }
  }
  EXPECT_EQ(events, kEvents);
  EXPECT_GE(overlapped, 2 * 8U);  // of each rank a stream, and the ranges
}

// Kinds of rows and their groups, as BuildRows makes them.
TEST(GeneratedRun, HasTheRowsOfARealRun) {
  const auto generated = GenerateRun(4'000);
  const std::vector<Row>& rows = generated->rows.rows;
  const auto count = [&](RowKind kind, RowKind parent) {
    return std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
      return row.kind == kind && row.parent != kNone && rows[row.parent].kind == parent;
    });
  };
  EXPECT_EQ(count(RowKind::kSteps, RowKind::kRank), 8);
  EXPECT_EQ(count(RowKind::kDevice, RowKind::kRank), 8);
  EXPECT_EQ(count(RowKind::kIdle, RowKind::kDevice), 8);
  EXPECT_EQ(count(RowKind::kQueueDepth, RowKind::kDevice), 8);
  EXPECT_EQ(count(RowKind::kStream, RowKind::kDevice), 24);
  EXPECT_EQ(count(RowKind::kHost, RowKind::kRank), 8);
  EXPECT_EQ(count(RowKind::kNvtx, RowKind::kHost), 8);
  EXPECT_EQ(count(RowKind::kCode, RowKind::kHost), 8);
  EXPECT_EQ(count(RowKind::kFrames, RowKind::kCode), 8);
  EXPECT_EQ(count(RowKind::kCalls, RowKind::kHost), 8);
}

TEST(GeneratedRun, EveryEventHasAName) {
  const auto loaded = GenerateRun(4'000);
  const RowModel& model = loaded->rows;
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    for (std::uint32_t lane = 0; lane < model.rows[row].lanes.size(); ++lane) {
      for (std::uint32_t event = 0; event < model.rows[row].lanes[lane].size(); ++event) {
        ASSERT_FALSE(EventLabel(loaded->run, model, {row, lane, event}).empty());
      }
    }
  }
}

}  // namespace
}  // namespace traceinject
