// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/title.h"

#include <gtest/gtest.h>

#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

constexpr float kGap = 14;
constexpr char kShown[] = "judged steps 4 to 6 (Home: whole run)";

class TitleTest : public testing::Test {
 protected:
  TitleTest() : loaded_(LoadSampleRun()) {}

  Title Fit(float room_px) const { return FitTitle(canvas_, *loaded_, kShown, kGap, room_px); }
  float Width(const Title& title) const {
    float width = canvas_.TextWidth(title.name);
    for (const std::string& part : {title.time, title.shown, title.remarks}) {
      if (!part.empty()) width += kGap + canvas_.TextWidth(part);
    }
    return width;
  }

  RecordingCanvas canvas_;
  std::unique_ptr<const LoadedRun> loaded_;
};

TEST_F(TitleTest, SaysEverythingWhereThereIsRoom) {
  const Title title = Fit(10'000);
  EXPECT_EQ(title, TitleOf(*loaded_, kShown));
  EXPECT_EQ(title.shown, kShown);
  EXPECT_TRUE(title.name.ends_with("/run.db")) << title.name;
  EXPECT_NE(title.time.find(" from "), std::string::npos) << title.time;
  EXPECT_EQ(title.remarks, "1 remark on the recording");
}

TEST_F(TitleTest, NeverNeedsMoreRoomThanThereIsAndLosesTheLeastImportantFirst) {
  Title wider = TitleOf(*loaded_, kShown);
  for (float room = Width(wider); room >= 0; room -= 7) {
    const Title title = Fit(room);
    EXPECT_TRUE(title.name.empty() || Width(title) <= room) << title.name << room;
    // What was left out does not come back.
    EXPECT_TRUE(title.time.empty() || !wider.time.empty()) << room;
    EXPECT_TRUE(title.shown.empty() || !wider.shown.empty()) << room;
    EXPECT_TRUE(title.time.empty() || !title.shown.empty()) << "the length goes first " << room;
    EXPECT_LE(title.name.size(), wider.name.size()) << room;
    EXPECT_LE(title.remarks.size(), wider.remarks.size()) << room;
    EXPECT_FALSE(title.remarks.empty()) << "that something is amiss is always said";
    wider = title;
  }
}

TEST_F(TitleTest, ACutNameKeepsItsEnd) {
  const float remarks_px = kGap + canvas_.TextWidth("1 remark");
  EXPECT_EQ(Fit(remarks_px + canvas_.TextWidth("run.db")).name, "run.db");
  EXPECT_EQ(Fit(remarks_px + canvas_.TextWidth("...db")).name, "...db");
  EXPECT_EQ(Fit(remarks_px + canvas_.TextWidth("..")).name, "");
}

TEST(NamesOf, CountsWhatItDoesNotName) {
  EXPECT_EQ(NamesOf({"a.db"}), "a.db");
  EXPECT_EQ(NamesOf({"a.db", "b.db", "c.db"}), "a.db and 2 more");
}

}  // namespace
}  // namespace traceinject
