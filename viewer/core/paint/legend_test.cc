// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/paint/legend.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "viewer/core/run/device_findings.h"

namespace traceinject {
namespace {

std::vector<std::string> Texts(const Painted& painted, const Look& look = {}) {
  std::vector<std::string> texts;
  for (const LegendEntry& entry : LegendOf(painted, look)) texts.push_back(entry.text);
  return texts;
}

void Set(Painted& painted, Ink ink) { painted.inks.set(static_cast<std::size_t>(ink)); }

TEST(Legend, HasWhatWasPaintedAndNothingElse) {
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
