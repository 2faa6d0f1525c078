// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/style/legend.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/view/run/device_findings.h"
#include "viewer/core/paint/paint_timeline.h"
#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

std::vector<std::string> Texts(const Painted& painted, const Look& look = {}) {
  std::vector<std::string> texts;
  for (const LegendEntry& entry : LegendOf(painted, look)) texts.push_back(entry.text);
  return texts;
}

void Set(Painted& painted, Ink ink) { painted.inks.set(static_cast<std::size_t>(ink)); }

TEST(Legend, HasWhatCanBePaintedAndNothingElse) {
  Painted painted;
  EXPECT_TRUE(Texts(painted).empty());
  painted.categories[1] = true;
  Set(painted, InkOf(KernelClass::kGemm));
  Set(painted, Ink::kCallSynchronize);
  Set(painted, InkOf(IdleCause::kPython));
  const std::vector<std::string> expected = {"communicating", "idle: python", "matrix multiply",
                                             "synchronizing call"};
  EXPECT_EQ(Texts(painted), expected);
  EXPECT_EQ(LegendOf(painted, {})[2].color, FillColor(InkOf(KernelClass::kGemm)));
}

TEST(Legend, AWaitAndTheIdleTimeItCausedAreOneEntry) {
  Painted painted;
  Set(painted, Ink::kDataWait);
  Set(painted, InkOf(IdleCause::kDataWait));
  EXPECT_EQ(Texts(painted), std::vector<std::string>{"data wait"});
}

TEST(Legend, NoColorHasTwoEntries) {
  Painted painted;
  painted.inks.set();
  painted.categories = {true, true, true};
  std::vector<Rgba> colors;
  for (const LegendEntry& entry : LegendOf(painted, {})) colors.push_back(entry.color);
  std::sort(colors.begin(), colors.end());
  EXPECT_EQ(std::adjacent_find(colors.begin(), colors.end()), colors.end());
}

TEST(Legend, SaysWhatColorsByNameOrStreamMean) {
  Painted painted;
  painted.by_hue = true;
  EXPECT_EQ(Texts(painted, {.colors = ColorMode::kName})[0], "one color per name");
  EXPECT_EQ(Texts(painted, {.colors = ColorMode::kStream})[0], "one color per stream");
}

TEST(Legend, EveryCauseOfIdleTimeHasAnEntry) {
  Painted painted;
  for (unsigned i = 0; i < kIdleCauses; ++i) Set(painted, InkOf(static_cast<IdleCause>(i)));
  EXPECT_EQ(Texts(painted).size(), kIdleCauses);
}

TEST(Legend, AnEntryIsInViewWhenAnyOfItsColorsIs) {
  Painted paintable;
  Set(paintable, Ink::kDataWait);
  Set(paintable, InkOf(IdleCause::kDataWait));
  Set(paintable, InkOf(KernelClass::kGemm));
  paintable.waits = true;
  const std::vector<LegendEntry> legend = LegendOf(paintable, {});
  const auto in_view = [&legend](const Painted& painted) {
    std::vector<std::string> texts;
    for (const LegendEntry& entry : legend) {
      if (entry.meaning.Overlaps(painted)) texts.push_back(entry.text);
    }
    return texts;
  };
  Painted painted;
  EXPECT_TRUE(in_view(painted).empty());
  Set(painted, InkOf(IdleCause::kDataWait));
  EXPECT_EQ(in_view(painted), std::vector<std::string>{"data wait"});
  painted = {};
  Set(painted, Ink::kDataWait);
  EXPECT_EQ(in_view(painted), std::vector<std::string>{"data wait"});
  painted = {};
  painted.waits = true;
  EXPECT_EQ(in_view(painted), std::vector<std::string>{"waiting for other ranks"});
}

// What is painted at any zoom has its place already: nothing moves.
TEST(Legend, HasAllThatIsPaintedAtAnyZoom) {
  const std::unique_ptr<const LoadedRun> loaded = LoadSampleRun();
  Timeline timeline(loaded->run, loaded->rows);
  timeline.Resize(1300, 900);
  for (const ColorMode colors : {ColorMode::kClass, ColorMode::kName, ColorMode::kStream}) {
    timeline.SetLook({.colors = colors});
    const Painted paintable = Paintable(loaded->rows, timeline.look());
    for (const TimeNs span : {5'000'000, 1'000'000, 100'000, 10'000}) {
      for (TimeNs start = 0; start < 5'000'000; start += std::max<TimeNs>(span / 2, 100'000)) {
        timeline.Show(start, start + span);
        RecordingCanvas canvas;
        const Painted painted = PaintTimeline(timeline, canvas);
        Painted both = paintable;
        both.Add(painted);
        EXPECT_EQ(both.inks, paintable.inks);
        EXPECT_EQ(both.categories, paintable.categories);
        EXPECT_EQ(both.by_hue, paintable.by_hue);
      }
    }
  }
}

TEST(PlaceLegend, WrapsAndKeepsTheNumberOfWhatIsLeftOut) {
  const std::vector<float> widths = {100, 100, 100, 100, 100};
  EXPECT_EQ(PlaceLegend(widths, 500, 1, 60).size(), 5U) << "all fit: nothing is kept free";
  EXPECT_EQ(PlaceLegend(widths, 499, 1, 60).size(), 4U);
  EXPECT_EQ(PlaceLegend(widths, 450, 1, 60).size(), 3U)
      << "the fourth stands where \"1 more\" would";
  const auto wrapped = PlaceLegend(widths, 320, 2, 60);
  ASSERT_EQ(wrapped.size(), 5U);
  EXPECT_EQ(wrapped[2].line, 0);
  EXPECT_EQ(wrapped[3].line, 1);
  EXPECT_EQ(wrapped[3].x, 0);
  EXPECT_EQ(PlaceLegend(widths, 210, 2, 60).size(), 3U);
  EXPECT_TRUE(PlaceLegend(widths, 50, 2, 60).empty());
}

TEST(PlaceLegend, NothingReachesOutOfTheRoom) {
  const std::vector<float> widths = {80, 120, 33, 250, 61, 90, 140, 75};
  for (float room = 0; room < 900; room += 13) {
    for (const int lines : {1, 2}) {
      const auto places = PlaceLegend(widths, room, lines, 70);
      for (std::size_t i = 0; i < places.size(); ++i) {
        const bool all = places.size() == widths.size();
        const bool last = places[i].line + 1 == lines;
        ASSERT_LT(places[i].line, lines);
        ASSERT_LE(places[i].x + widths[i], room - (last && !all ? 70 : 0)) << room;
      }
    }
  }
}

}  // namespace
}  // namespace traceinject
