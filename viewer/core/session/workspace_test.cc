// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/session/workspace.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"
#include "viewer/core/paint/paint_marks.h"
#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

class WorkspaceTest : public testing::Test {
 protected:
  WorkspaceTest() { workspace_.timeline().Resize(1300, 400); }

  float XOf(TimeNs time) const {
    return workspace_.timeline().Plot().left + workspace_.timeline().view().X(time);
  }
  // On the row with the rank's name, where no event's edge is near.
  void PointAt(TimeNs time) { workspace_.timeline().MovePointer(XOf(time), 30); }
  const std::vector<Mark>& marks() const { return workspace_.annotations().marks(); }
  void Click(float x, float y, bool twice = false) {
    workspace_.timeline().MovePointer(x, y);
    workspace_.Press(PointerButton::kLeft, twice, {});
    workspace_.timeline().Release(PointerButton::kLeft);
  }
  void MeasureRange(TimeNs start, TimeNs end) {
    workspace_.timeline().SetMeasure(Measure{start, end, kNone});
  }

  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  Workspace workspace_{loaded_->run, loaded_->rows, &loaded_->links, ""};
};

// Esc lets go of one thing after another.
TEST_F(WorkspaceTest, TheShadeGoesAfterWhatIsMeasured) {
  workspace_.ToggleShaded("dataloader");
  EXPECT_EQ(workspace_.shaded(), "dataloader");
  MeasureRange(kMs, 2 * kMs);
  workspace_.Do(CommandId::kClear);
  EXPECT_EQ(workspace_.shaded(), "dataloader");
  workspace_.Do(CommandId::kClear);
  EXPECT_EQ(workspace_.shaded(), "");
  workspace_.ToggleShaded("dataloader");
  workspace_.ToggleShaded("launch_bound");
  EXPECT_EQ(workspace_.shaded(), "launch_bound");
  workspace_.ToggleShaded("launch_bound");
  EXPECT_EQ(workspace_.shaded(), "");
}

TEST_F(WorkspaceTest, PanelsOpenAndCloseByTheirCommands) {
  const std::pair<CommandId, Panel> kToggles[] = {{CommandId::kDetails, Panel::kDetails},
                                                  {CommandId::kMarks, Panel::kMarks},
                                                  {CommandId::kFind, Panel::kFind},
                                                  {CommandId::kHelp, Panel::kHelp},
                                                  {CommandId::kPalette, Panel::kPalette}};
  for (const auto& [command, panel] : kToggles) {
    const bool before = workspace_.IsShown(panel);
    EXPECT_EQ(before, panel == Panel::kDetails);
    workspace_.Do(command);
    EXPECT_NE(workspace_.IsShown(panel), before) << PanelName(panel);
    workspace_.Do(command);
    EXPECT_EQ(workspace_.IsShown(panel), before) << PanelName(panel);
  }
}

TEST_F(WorkspaceTest, EscapeClosesFromTheTop) {
  Click(XOf(1'025 * kUs), 0);
  MeasureRange(kMs, 2 * kMs);
  workspace_.Do(CommandId::kMark);
  workspace_.timeline().Select(EventRef{2, 0, 0});
  for (const CommandId open : {CommandId::kPalette, CommandId::kHelp, CommandId::kMarks}) {
    workspace_.Do(open);
  }
  workspace_.Do(CommandId::kClear);
  EXPECT_FALSE(workspace_.IsShown(Panel::kPalette));
  EXPECT_TRUE(workspace_.IsShown(Panel::kHelp));
  workspace_.Do(CommandId::kClear);
  EXPECT_FALSE(workspace_.IsShown(Panel::kHelp));
  workspace_.Do(CommandId::kClear);
  EXPECT_FALSE(workspace_.IsShown(Panel::kMarks));
  EXPECT_TRUE(workspace_.timeline().measure().has_value());
  workspace_.Do(CommandId::kClear);
  EXPECT_FALSE(workspace_.timeline().measure().has_value());
  EXPECT_TRUE(workspace_.selected_mark().has_value());
  workspace_.Do(CommandId::kClear);
  EXPECT_FALSE(workspace_.selected_mark().has_value());
  EXPECT_TRUE(workspace_.timeline().selection().has_value());
  workspace_.Do(CommandId::kClear);
  EXPECT_FALSE(workspace_.timeline().selection().has_value());
  EXPECT_TRUE(workspace_.IsShown(Panel::kDetails)) << "it is no window on top";
  EXPECT_EQ(marks().size(), 1U);
}

TEST_F(WorkspaceTest, MarksTheRangeElseThePointerElseTheSelection) {
  workspace_.Do(CommandId::kMark);
  EXPECT_TRUE(marks().empty()) << "nothing to mark";
  workspace_.timeline().Select(EventRef{2, 0, 0});
  workspace_.Do(CommandId::kNewMark);
  const Lane& lane = loaded_->rows.rows[2].lanes[0];
  EXPECT_EQ(marks().back().start, lane.start(0));
  EXPECT_EQ(marks().back().end, lane.end(0));
  PointAt(3 * kMs);
  workspace_.Do(CommandId::kNewMark);
  EXPECT_NEAR(static_cast<double>(marks().back().start), 3e6, 5e3);
  EXPECT_EQ(marks().back().end, marks().back().start);
  MeasureRange(4 * kMs, 4'100 * kUs);
  workspace_.Do(CommandId::kNewMark);
  EXPECT_EQ(marks().back().end, 4'100 * kUs);
  EXPECT_EQ(marks().size(), 3U);
  EXPECT_EQ(workspace_.selected_mark(), 2U);
}

TEST_F(WorkspaceTest, AMarkWithoutTextMovesAndOneWithTextStays) {
  MeasureRange(kMs, 2 * kMs);
  workspace_.Do(CommandId::kMark);
  MeasureRange(2 * kMs, 3 * kMs);
  workspace_.Do(CommandId::kMark);
  ASSERT_EQ(marks().size(), 1U);
  EXPECT_EQ(marks()[0].start, 2 * kMs);
  Mark named = marks()[0];
  named.text = "warm-up";
  workspace_.ChangeMark(0, named);
  MeasureRange(3 * kMs, 4 * kMs);
  workspace_.Do(CommandId::kMark);
  ASSERT_EQ(marks().size(), 2U);
  workspace_.Do(CommandId::kNewMark);
  EXPECT_EQ(marks().size(), 3U);
  workspace_.Do(CommandId::kMark);
  EXPECT_EQ(marks().size(), 4U) << "what was made as a new one is not moved";
  EXPECT_NE(marks()[0].color, marks()[1].color);
}

TEST_F(WorkspaceTest, ANewMarkAsksForItsText) {
  MeasureRange(kMs, 2 * kMs);
  workspace_.Do(CommandId::kMark);
  EXPECT_FALSE(workspace_.TakeWantsMarkText());
  workspace_.Do(CommandId::kNewMark);
  EXPECT_TRUE(workspace_.IsShown(Panel::kMarks));
  EXPECT_TRUE(workspace_.TakeWantsMarkText());
  EXPECT_FALSE(workspace_.TakeWantsMarkText()) << "once";
}

TEST_F(WorkspaceTest, FlagsAreClickableAndDeleteRemoves) {
  PointAt(3 * kMs);
  workspace_.Do(CommandId::kNewMark);
  MeasureRange(kMs, 2 * kMs);
  workspace_.Do(CommandId::kNewMark);
  ASSERT_EQ(marks().size(), 2U);
  const Box flag = workspace_.MarkFlag(marks()[1]);
  Click(flag.left + 3, flag.top + 3);
  EXPECT_EQ(workspace_.selected_mark(), 1U);
  EXPECT_TRUE(workspace_.timeline().measure().has_value()) << "a click on a flag is not one beside";
  workspace_.Do(CommandId::kDeleteMark);
  EXPECT_EQ(marks().size(), 1U);
  EXPECT_FALSE(workspace_.selected_mark().has_value());
  workspace_.Do(CommandId::kDeleteMark);
  EXPECT_EQ(marks().size(), 1U) << "none is selected";
}

TEST_F(WorkspaceTest, FitAndRangeTakeTheSelectedMark) {
  MeasureRange(2 * kMs, 2'100 * kUs);
  workspace_.Do(CommandId::kMark);
  workspace_.timeline().SetMeasure(std::nullopt);
  workspace_.Do(CommandId::kFitSelection);
  EXPECT_EQ(workspace_.timeline().view().start_ns(), 1'900 * kUs);
  EXPECT_EQ(workspace_.timeline().view().end_ns(), 2'200 * kUs);
  workspace_.Do(CommandId::kMeasureSelection);
  ASSERT_TRUE(workspace_.timeline().measure().has_value());
  EXPECT_EQ(workspace_.timeline().measure()->end, 2'100 * kUs);
}

TEST_F(WorkspaceTest, AMomentIsBroughtToTheMiddle) {
  PointAt(3 * kMs);
  workspace_.Do(CommandId::kMark);
  workspace_.timeline().Show(kMs, 1'100 * kUs);
  workspace_.JumpToMark(0);
  EXPECT_EQ(workspace_.timeline().view().span_ns(), 100 * kUs);
  const Box plot = workspace_.timeline().Plot();
  EXPECT_NEAR(XOf(marks()[0].start), (plot.left + plot.right) / 2, 2);
}

TEST_F(WorkspaceTest, ShowIsRelativeToTheFirstGpuOperation) {
  workspace_.Show(100 * kUs, kMs);
  EXPECT_EQ(workspace_.timeline().view().start_ns(), kMs);
  workspace_.Show(std::nullopt, kMs);
  EXPECT_EQ(workspace_.timeline().view().start_ns(), loaded_->rows.start);
  EXPECT_EQ(workspace_.timeline().view().end_ns(), 1'900 * kUs);
}

TEST_F(WorkspaceTest, ARunThatIsReadAgainKeepsMarksAndPanels) {
  MeasureRange(2 * kMs, 2'100 * kUs);
  workspace_.Do(CommandId::kNewMark);
  auto again = LoadSampleRun();
  LoadedRun earlier{again->run, BuildRows(again->run), {}};
  earlier.run.base_ns -= 500;  // another rank began earlier
  const Workspace next(earlier.run, earlier.rows, nullptr, std::move(workspace_));
  ASSERT_EQ(next.annotations().marks().size(), 1U);
  EXPECT_EQ(next.annotations().marks()[0].start, 2 * kMs + 500);
  EXPECT_EQ(next.selected_mark(), 0U);
  EXPECT_TRUE(next.IsShown(Panel::kMarks));
}

TEST_F(WorkspaceTest, RowsAreAsTheyWereWhenTheRunIsOpenedAgain) {
  const TemporaryFolder folder;
  const std::string path = folder / "run.db.marks.json";
  const auto open = [&] { return Workspace(loaded_->run, loaded_->rows, &loaded_->links, path); };
  RowChoices chosen;
  {
    Workspace first = open();
    first.KeepRows();
    EXPECT_FALSE(first.sidecar().busy()) << "nothing was chosen";
    first.timeline().ChangeRows([](RowList& list) {
      list.ToggleCollapsed(1);
      list.TogglePinned(list.scrolled().back());
      list.Hide(list.scrolled()[1]);
    });
    first.KeepRows();
    chosen = first.timeline().row_list().choices();
  }
  {
    Workspace again = open();
    EXPECT_EQ(again.timeline().row_list().choices(), chosen);
    // A state of the run that has none of its rows yet.
    const traceinject::Run nothing;
    const RowModel no_rows;
    Workspace early(nothing, no_rows, nullptr, std::move(again));
    early.KeepRows();
    Workspace whole(loaded_->run, loaded_->rows, &loaded_->links, std::move(early));
    whole.KeepRows();
    EXPECT_EQ(whole.timeline().row_list().choices(), chosen);
    whole.Do(CommandId::kResetRows);
    whole.KeepRows();
  }
  EXPECT_EQ(open().timeline().row_list().Saved(), SavedRows());
}

TEST_F(WorkspaceTest, AFolderThatCannotBeWrittenIsSaidOnce) {
  Workspace workspace(loaded_->run, loaded_->rows, nullptr, "/nonexistent/run.db.marks.json");
  EXPECT_EQ(workspace.sidecar().problem(), "");
  std::string said;
  for (int i = 0; i < 3; ++i) {
    workspace.timeline().ChangeRows([](RowList& list) { list.Hide(list.scrolled().back()); });
    workspace.KeepRows();
    workspace.sidecar().Wait();
    EXPECT_NE(workspace.sidecar().problem().find("cannot be written"), std::string::npos);
    EXPECT_TRUE(said.empty() || said == workspace.sidecar().problem());
    said = workspace.sidecar().problem();
  }
}

TEST_F(WorkspaceTest, MarksArePaintedWithTheirText) {
  RecordingCanvas none;
  PaintMarks(workspace_, none);
  EXPECT_TRUE(none.shapes.empty());
  MeasureRange(kMs, 2 * kMs);
  workspace_.Do(CommandId::kMark);
  Mark named = marks()[0];
  named.text = "warm-up";
  workspace_.ChangeMark(0, named);
  RecordingCanvas canvas;
  PaintMarks(workspace_, canvas);
  EXPECT_TRUE(canvas.HasText("warm-up"));
  EXPECT_EQ(canvas.outlines.size(), 1U) << "the selected one";
  const auto band = canvas.WithColor(WithAlpha(named.color, 0x28), {0, 0, 1300, 400});
  ASSERT_EQ(band.size(), 1U);
  EXPECT_NEAR(band[0].box.left, XOf(kMs), 1);
  EXPECT_NEAR(band[0].box.right, XOf(2 * kMs), 1);
  workspace_.timeline().Show(3 * kMs, 4 * kMs);
  RecordingCanvas elsewhere;
  PaintMarks(workspace_, elsewhere);
  EXPECT_TRUE(elsewhere.shapes.empty());
}

}  // namespace
}  // namespace traceinject
