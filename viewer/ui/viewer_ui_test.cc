// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/viewer_ui.h"

#include <set>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/slow_rank.h"
#include "viewer/core/timeline/evidence_place.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

using ViewerUiTest = UiFixture;

TEST_F(ViewerUiTest, ShowsProgressBeforeTheRunIsThere) {
  ui_.SetProgress(LoadProgress{.share = 0.5, .files_done = 0, .files = 1, .rows = 1'000});
  Frame({Key::kW});
  EXPECT_EQ(ui_.timeline(), nullptr);
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, 100);
}

TEST_F(ViewerUiTest, LimitsAreRelativeToTheFirstGpuOperation) {
  Load(100 * kUs, kMs);
  EXPECT_EQ(ui_.timeline()->view().start_ns(), kMs);
  EXPECT_EQ(ui_.timeline()->view().end_ns(), 1'900 * kUs);
}

TEST_F(ViewerUiTest, MenusHoldEveryCommand) {
  Load();
  // The first menu, then its first item.
  MoveTo({20, 8});
  SetButton(true);
  SetButton(false);
  Frame();
  Click(MousePlace{40, 8 + 1.6F * ImGui::GetFrameHeight()});
  EXPECT_TRUE(workspace().IsShown(Panel::kOpenDialog)) << "to open a recording stands first";
}

// What comes into view has its place in the legend already, and keeps it.
TEST_F(ViewerUiTest, TheLegendStaysWhereItIs) {
  Load();
  const auto places = [this] {
    std::vector<float> found;
    for (const char* name : {"legend: computing", "legend: communicating",
                             "legend: matrix multiply", "legend: launch call"}) {
      const std::optional<Box> box = ui_.controls().Find(name);
      EXPECT_TRUE(box.has_value()) << name;
      if (box) found.insert(found.end(), {box->left, box->top});
    }
    return found;
  };
  const std::vector<float> before = places();
  const float timeline_top = Origin().y;
  workspace().timeline().Show(3'500 * kUs, 3'600 * kUs);
  Settle();
  EXPECT_EQ(places(), before);
  EXPECT_EQ(Origin().y, timeline_top);
}

TEST_F(ViewerUiTest, OfManyRanksThoseThatTheVerdictSpeaksOfAreOpen) {
  const TemporaryFolder folder;
  for (int rank = 0; rank < 4; ++rank) {
    WriteRank(folder / ("run.rank0000" + std::to_string(rank) + ".db"),
              {.rank = rank, .world_size = 4})
        .Close();
  }
  LoadResult loaded = LoadWithRows({folder / "run.db"}, {});
  ASSERT_TRUE(loaded.ok());
  Load(std::move(loaded).value(), std::nullopt, std::nullopt);
  ASSERT_NE(ui_.report(), nullptr);
  const std::set<std::uint32_t> spoken_of = RanksIn(timeline().run(), ui_.report()->verdict());
  EXPECT_LT(spoken_of.size(), 4U);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::uint32_t heading = RowOf("rank " + std::to_string(rank) + " on node-a");
    EXPECT_EQ(timeline().row_list().IsCollapsed(heading), !spoken_of.contains(rank)) << rank;
  }
}

class LeadToVerdictTest : public UiFixture {
 protected:
  LeadToVerdictTest() { ui_.LeadToVerdict(true); }

  bool ShowsAll() const {
    return timeline().view().start_ns() <= timeline().model().start &&
           timeline().view().end_ns() >= timeline().model().end;
  }
};

TEST_F(LeadToVerdictTest, ShowsTheStepsOfTheGuiltyRankOnceTheyAreKnown) {
  Open(WriteSlowRank);
  ASSERT_NE(ui_.report(), nullptr);
  EXPECT_FALSE(ShowsAll());
  EXPECT_TRUE(timeline().row_list().IsCollapsed(RowOf("rank 0 on node-a")));
  EXPECT_FALSE(timeline().row_list().IsCollapsed(RowOf("rank 1 on node-a")));
  Press(Key::kHome);
  EXPECT_TRUE(ShowsAll());
}

TEST_F(LeadToVerdictTest, ComesNoMoreOnceTheUserDidSomething) {
  const auto open_and = [this](auto act) {
    ImGui::GetIO().DisplaySize = {1400, 800};
    ui_.SetLoaded(LoadSlowRank(), std::nullopt, std::nullopt);
    ASSERT_EQ(ui_.report(), nullptr);
    act();
    Settle();
    ASSERT_NE(ui_.report(), nullptr);
    EXPECT_TRUE(ShowsAll());
    EXPECT_FALSE(timeline().row_list().IsCollapsed(RowOf("rank 0 on node-a")));
  };
  open_and([this] { Frame({Key::kQ}); });
  open_and([this] { SetButton(true); });
  SetButton(false);
  open_and([this] { ui_.KeepView(); });
}

TEST_F(LeadToVerdictTest, GivesWayToATimeThatWasAskedFor) {
  Load(LoadSlowRank(), 100 * kMs, 200 * kMs);
  ASSERT_NE(ui_.report(), nullptr);
  EXPECT_EQ(timeline().view().span_ns(), 100 * kMs);
}

TEST_F(ViewerUiTest, TheHintGivesWayInANarrowWindow) {
  Load();
  EXPECT_TRUE(ui_.controls().Find("help hint").has_value());
  ImGui::GetIO().DisplaySize.x = 400;
  Frame();
  Frame();
  EXPECT_FALSE(ui_.controls().Find("help hint").has_value());
}

TEST_F(ViewerUiTest, TheTitleIsCutAndNotCutOff) {
  Load();
  for (const float width : {1400.0F, 900.0F, 700.0F, 500.0F, 400.0F}) {
    ImGui::GetIO().DisplaySize.x = width;
    Frame();
    Frame();
    const auto title = ui_.controls().Find("title");
    ASSERT_TRUE(title.has_value());
    EXPECT_LE(title->right, width) << width;
  }
}

TEST_F(ViewerUiTest, EverythingGrowsWithTheFont) {
  Load();
  const Timeline& timeline = *ui_.timeline();
  const float ruler = timeline.Plot().top, labels = timeline.Plot().left;
  const Box splitter = ui_.controls().Find("splitter").value_or(Box());
  ImGui::GetIO().FontGlobalScale = 2;
  ImGui::GetIO().DisplaySize = {2800, 1600};
  Settle();
  EXPECT_NEAR(timeline.Plot().top, 2 * ruler, 2);
  EXPECT_NEAR(timeline.Plot().left, 2 * labels, 2);
  EXPECT_NEAR(ui_.controls().Find("splitter").value_or(Box()).height(), 2 * splitter.height(), 2);
}

TEST_F(ViewerUiTest, AFrameIsAFewDrawCommands) {
  Load();
  Frame();
  int commands = 0;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) commands += data.CmdLists[i]->CmdBuffer.Size;
  EXPECT_LE(commands, 30) << "labels must not cost a clip rectangle each";
}

}  // namespace
}  // namespace traceinject
