// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/timeline_view.h"

#include <gtest/gtest.h>

#include <random>

namespace traceinject {
namespace {

constexpr TimeNs kDay = 86'400'000'000'000;

TimelineView ViewOf(TimeNs first, TimeNs last) {
  TimelineView view(first, last);
  view.SetWidth(1600);
  return view;
}

TEST(TimelineView, ShowsTheWholeRunAtFirst) {
  const TimelineView view = ViewOf(5'000, 1'005'000);
  EXPECT_LT(view.start_ns(), 5'000);
  EXPECT_GT(view.end_ns(), 1'005'000);
  EXPECT_GT(view.X(5'000), 0);
  EXPECT_LT(view.X(1'005'000), 1600);
}

TEST(TimelineView, TimeAndPixelAreInverse) {
  TimelineView view = ViewOf(0, 10 * kDay);
  for (const TimeNs span : {TimeNs{100}, TimeNs{12'345}, TimeNs{98'765'432}, 3 * kDay}) {
    view.Show(4 * kDay + 17, 4 * kDay + 17 + span);
    for (float x = 0; x < 1600; x += 37) {
      EXPECT_NEAR(view.X(view.TimeAt(x)), x, 1 / view.ns_per_px() + 0.01) << "span " << span;
    }
  }
}

TEST(TimelineView, SingleNanosecondsCanBeToldApartAfterTenDays) {
  TimelineView view = ViewOf(0, 10 * kDay);
  view.Show(10 * kDay - 1'000, 10 * kDay - 900);
  EXPECT_FLOAT_EQ(view.X(10 * kDay - 1'000), 0);
  EXPECT_FLOAT_EQ(view.X(10 * kDay - 999), 16);
}

TEST(TimelineView, ZoomKeepsTheTimeUnderThePointer) {
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    TimelineView view = ViewOf(0, kDay);
    const TimeNs span = std::uniform_int_distribution<TimeNs>(10'000, kDay / 100)(random);
    const TimeNs start = std::uniform_int_distribution<TimeNs>(kDay / 10, kDay / 2)(random);
    view.Show(start, start + span);
    const float x = std::uniform_real_distribution<float>(0, 1600)(random);
    const TimeNs before = view.TimeAt(x);
    const double factor = round % 2 == 0 ? 0.8 : 1.25;
    view.ZoomAt(x, factor);
    EXPECT_NEAR(static_cast<double>(view.TimeAt(x) - before), 0, 2);
    EXPECT_NEAR(static_cast<double>(view.span_ns()), static_cast<double>(span) * factor, 1);
  }
}

TEST(TimelineView, ZoomInAndOutComesBack) {
  TimelineView view = ViewOf(0, kDay);
  view.Show(kDay / 3, kDay / 3 + 50'000'000);
  const TimeNs start = view.start_ns(), end = view.end_ns();
  for (int i = 0; i < 20; ++i) view.ZoomAt(400, 0.8);
  EXPECT_LT(view.span_ns(), 1'000'000);
  for (int i = 0; i < 20; ++i) view.ZoomAt(400, 1.25);
  EXPECT_NEAR(static_cast<double>(view.start_ns() - start), 0, 2'000);
  EXPECT_NEAR(static_cast<double>(view.end_ns() - end), 0, 2'000);
}

TEST(TimelineView, ZoomStopsAtTheLimits) {
  TimelineView view = ViewOf(1'000, 2'000'000);
  for (int i = 0; i < 200; ++i) view.ZoomAt(800, 0.5);
  EXPECT_EQ(view.span_ns(), TimelineView::kMinSpanNs);
  for (int i = 0; i < 200; ++i) view.ZoomAt(800, 2);
  const TimelineView all = ViewOf(1'000, 2'000'000);
  EXPECT_EQ(view.start_ns(), all.start_ns());
  EXPECT_EQ(view.end_ns(), all.end_ns());
}

TEST(TimelineView, PanStopsAtTheLimitsAndKeepsTheSpan) {
  TimelineView view = ViewOf(0, 1'000'000);
  view.Show(400'000, 500'000);
  view.Pan(160);
  EXPECT_EQ(view.start_ns(), 410'000);
  view.Pan(-160);
  EXPECT_EQ(view.start_ns(), 400'000);
  view.Pan(1e12);
  EXPECT_EQ(view.span_ns(), 100'000);
  EXPECT_EQ(view.end_ns(), ViewOf(0, 1'000'000).end_ns());
  view.Pan(-1e12);
  EXPECT_EQ(view.start_ns(), ViewOf(0, 1'000'000).start_ns());
}

TEST(TimelineView, FitLeavesRoomAndTakesEventsWithoutLength) {
  TimelineView view = ViewOf(0, 1'000'000);
  view.Fit(500'000, 530'000);
  EXPECT_EQ(view.start_ns(), 470'000);
  EXPECT_EQ(view.end_ns(), 560'000);
  view.Fit(500'000, 500'000);
  EXPECT_EQ(view.span_ns(), TimelineView::kMinSpanNs);
  EXPECT_LT(view.start_ns(), 500'000);
  EXPECT_GT(view.end_ns(), 500'000);
}

TEST(TimelineView, ARunWithoutLengthCanBeShown) {
  const TimelineView view = ViewOf(77, 77);
  EXPECT_GE(view.span_ns(), TimelineView::kMinSpanNs);
  EXPECT_LE(view.start_ns(), 77);
}

}  // namespace
}  // namespace traceinject
