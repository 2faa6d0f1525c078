// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/generated_run.h"

#include <gtest/gtest.h>

#include "viewer/core/event_text.h"

namespace traceinject {
namespace {

TEST(GeneratedRun, HasTheEventsAskedForInEveryKindOfRow) {
  constexpr std::size_t kEvents = 80'000;
  const auto loaded = GenerateRun(kEvents);
  const RowModel& model = loaded->rows;
  std::size_t events = 0, overlapped = 0;
  for (const Row& row : model.rows) {
    if (row.kind == RowKind::kRank) continue;
    EXPECT_EQ(row.hidden, 0U);
    EXPECT_FALSE(row.lanes.empty()) << row.label;
    if (row.kind == RowKind::kDevice) continue;
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
