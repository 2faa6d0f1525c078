// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/testing/command_effects.h"

#include <algorithm>
#include <iterator>

#include "viewer/core/session/dump_state.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

TimeNs Start(const UiUser& user) { return user.timeline().view().start_ns(); }
TimeNs Span(const UiUser& user) { return user.timeline().view().span_ns(); }
void SelectFirstKernel(UiUser& user) { user.Click(user.Place("stream 7", 1'025 * kUs)); }
void ShowOneMs(UiUser& user) { user.Show(2 * kMs, 3 * kMs); }
void PointAtStream(UiUser& user) { user.MoveTo(user.Place("stream 7", kMs)); }
float StreamTop(const UiUser& user) { return user.timeline().RowTop(user.RowOf("stream 7")); }
bool ShowsStream(const UiUser& user) {
  return user.timeline().layout().Shows(user.RowOf("stream 7"));
}
void PointAtMoment(UiUser& user) { user.MoveTo(user.Place("rank 0 on node-a", 2'020 * kUs)); }
bool FirstRankIsAbove(const UiUser& user) {
  return user.timeline().RowTop(user.RowOf("rank 0 on node-a")) <
         user.timeline().RowTop(user.RowOf("rank 1 on node-a"));
}
void ExpectGivenToTheBrowser(UiUser& user, CommandId command) {
  EXPECT_EQ(user.TakeForBrowser(), command);
  EXPECT_EQ(user.TakeForBrowser(), std::nullopt) << "once";
}

struct CommandEffect {
  CommandId command;
  // Sets the stage, presses the key, and looks.
  void (*check)(UiUser& user, const KeyPress& key);
};

constexpr CommandEffect kCommandEffects[] = {
    {CommandId::kZoomIn,
     [](UiUser& user, const KeyPress& key) {
       const MousePlace at = user.Place("stream 7", 2 * kMs);
       user.MoveTo(at);
       const TimeNs before = Span(user);
       user.Press(key);
       EXPECT_LT(Span(user), before);
       EXPECT_NEAR(user.Place("stream 7", 2 * kMs).x, at.x, 1) << "at the pointer";
     }},
    {CommandId::kZoomOut,
     [](UiUser& user, const KeyPress& key) {
       ShowOneMs(user);
       user.Press(key);
       EXPECT_GT(Span(user), kMs);
     }},
    {CommandId::kPanLeft,
     [](UiUser& user, const KeyPress& key) {
       ShowOneMs(user);
       user.Press(key);
       EXPECT_LT(Start(user), 2 * kMs);
       EXPECT_EQ(Span(user), kMs);
     }},
    {CommandId::kPanRight,
     [](UiUser& user, const KeyPress& key) {
       ShowOneMs(user);
       user.Press(key);
       EXPECT_GT(Start(user), 2 * kMs);
       EXPECT_EQ(Span(user), kMs);
     }},
    {CommandId::kScrollUp,
     [](UiUser& user, const KeyPress& key) {
       user.SetHeight(260);
       user.Press(Key::kPageDown);
       const float before = user.timeline().scroll_px();
       user.Press(key);
       EXPECT_LT(user.timeline().scroll_px(), before);
     }},
    {CommandId::kScrollDown,
     [](UiUser& user, const KeyPress& key) {
       user.SetHeight(260);
       user.Press(key);
       EXPECT_GT(user.timeline().scroll_px(), 0);
     }},
    {CommandId::kFitSelection,
     [](UiUser& user, const KeyPress& key) {
       SelectFirstKernel(user);
       user.Press(key);
       EXPECT_EQ(Start(user), 950 * kUs);
       EXPECT_EQ(Span(user), 150 * kUs);
     }},
    {CommandId::kShowAll,
     [](UiUser& user, const KeyPress& key) {
       const TimeNs all = Span(user);
       ShowOneMs(user);
       user.Press(key);
       EXPECT_EQ(Span(user), all);
     }},
    {CommandId::kPreviousView,
     [](UiUser& user, const KeyPress& key) {
       const TimeNs all = Span(user);
       ShowOneMs(user);
       user.Press(key);
       EXPECT_EQ(Span(user), all);
     }},
    {CommandId::kFind,
     [](UiUser& user, const KeyPress& key) {
       user.Press(Key::kQ);
       EXPECT_FALSE(user.workspace().IsShown(Panel::kDetails));
       user.Press(key);
       EXPECT_TRUE(user.workspace().IsShown(Panel::kDetails));
       EXPECT_EQ(user.tab(), PanelTab::kFind);
     }},
    {CommandId::kPreviousEvent,
     [](UiUser& user, const KeyPress& key) {
       user.Click(user.Place("stream 7", 1'125 * kUs));
       user.Press(key);
       EXPECT_EQ(user.timeline().selection()->event, 0U);
     }},
    {CommandId::kNextEvent,
     [](UiUser& user, const KeyPress& key) {
       SelectFirstKernel(user);
       user.Press(key);
       EXPECT_EQ(user.timeline().selection()->event, 1U);
     }},
    {CommandId::kFollowLinkBack,
     [](UiUser& user, const KeyPress& key) {
       SelectFirstKernel(user);
       user.Press(key);
       EXPECT_EQ(user.SelectedRow(), "thread 4242: CUDA calls");
     }},
    {CommandId::kFollowLink,
     [](UiUser& user, const KeyPress& key) {
       user.Click(user.Place("thread 4242: CUDA calls", 912 * kUs));
       user.Press(key);
       EXPECT_EQ(user.SelectedRow(), "stream 7");
     }},
    {CommandId::kMeasureSelection,
     [](UiUser& user, const KeyPress& key) {
       SelectFirstKernel(user);
       user.Press(key);
       ASSERT_TRUE(user.timeline().measure().has_value());
       EXPECT_EQ(user.timeline().measure()->end, 1'050 * kUs);
     }},
    {CommandId::kOpenEditor,
     [](UiUser& user, const KeyPress& key) {
       user.Press(key);
       EXPECT_NE(user.workspace().notice().find("Select a line of code first"), std::string::npos);
       user.Press(Key::kW);
       EXPECT_TRUE(user.workspace().notice().empty()) << "until the next command";
     }},
    {CommandId::kMark,
     [](UiUser& user, const KeyPress& key) {
       PointAtMoment(user);
       user.Press(key);
       ASSERT_EQ(user.marks().size(), 1U);
       EXPECT_NEAR(static_cast<double>(user.marks()[0].start), 2'020e3, 5e3);
       EXPECT_NE(user.tab(), PanelTab::kMarks);
     }},
    {CommandId::kNewMark,
     [](UiUser& user, const KeyPress& key) {
       PointAtMoment(user);
       user.Press(Key::kM);
       user.Press(key);
       ASSERT_EQ(user.marks().size(), 2U);
       EXPECT_EQ(user.tab(), PanelTab::kMarks);
     }},
    {CommandId::kDeleteMark,
     [](UiUser& user, const KeyPress& key) {
       PointAtMoment(user);
       user.Press(Key::kM);
       ASSERT_EQ(user.marks().size(), 1U);
       user.Press(key);
       EXPECT_TRUE(user.marks().empty());
     }},
    {CommandId::kMarks,
     [](UiUser& user, const KeyPress& key) {
       user.Press(Key::kQ);
       user.Press(key);
       EXPECT_TRUE(user.workspace().IsShown(Panel::kDetails));
       EXPECT_EQ(user.tab(), PanelTab::kMarks);
     }},
    {CommandId::kCollapse,
     [](UiUser& user, const KeyPress& key) {
       PointAtStream(user);
       user.Press(key);
       EXPECT_FALSE(ShowsStream(user));
     }},
    {CommandId::kPinRow,
     [](UiUser& user, const KeyPress& key) {
       PointAtStream(user);
       user.Press(key);
       EXPECT_TRUE(user.timeline().layout().IsPinned(user.RowOf("stream 7")));
     }},
    {CommandId::kHideRow,
     [](UiUser& user, const KeyPress& key) {
       PointAtStream(user);
       user.Press(key);
       EXPECT_FALSE(ShowsStream(user));
     }},
    {CommandId::kMoveRowUp,
     [](UiUser& user, const KeyPress& key) {
       PointAtStream(user);
       const float before = StreamTop(user);
       user.Press(key);
       EXPECT_LT(StreamTop(user), before);
     }},
    {CommandId::kMoveRowDown,
     [](UiUser& user, const KeyPress& key) {
       PointAtStream(user);
       const float before = StreamTop(user);
       user.Press(key);
       EXPECT_GT(StreamTop(user), before);
     }},
    {CommandId::kSortRanks,
     [](UiUser& user, const KeyPress& key) {
       user.Open(WriteRunOfTwoRanks);
       EXPECT_TRUE(FirstRankIsAbove(user));
       user.Press(key);
       EXPECT_FALSE(FirstRankIsAbove(user)) << "rank 1 came last";
       user.Press(key);
       EXPECT_TRUE(FirstRankIsAbove(user));
     }},
    {CommandId::kFoldRanks,
     [](UiUser& user, const KeyPress& key) {
       const auto folded = [&user] {
         return user.timeline().row_list().IsCollapsed(user.RowOf("rank 0 on node-a"));
       };
       user.Press(key);
       EXPECT_TRUE(folded());
       user.Press(key);
       EXPECT_FALSE(folded());
     }},
    {CommandId::kQuietRows,
     [](UiUser& user, const KeyPress& key) {
       user.Show(3'200 * kUs, 3'300 * kUs);
       EXPECT_FALSE(ShowsStream(user));
       user.Press(key);
       EXPECT_TRUE(ShowsStream(user));
     }},
    {CommandId::kResetRows,
     [](UiUser& user, const KeyPress& key) {
       PointAtStream(user);
       user.Press(Key::kH);
       EXPECT_FALSE(ShowsStream(user));
       user.Press(key);
       EXPECT_TRUE(ShowsStream(user));
     }},
    {CommandId::kTheme,
     [](UiUser& user, const KeyPress& key) {
       const ThemeId before = user.timeline().look().theme;
       user.Press(key);
       EXPECT_NE(user.timeline().look().theme, before);
     }},
    {CommandId::kColors,
     [](UiUser& user, const KeyPress& key) {
       const ColorMode before = user.timeline().look().colors;
       user.Press(key);
       EXPECT_NE(user.timeline().look().colors, before);
     }},
    {CommandId::kDetails,
     [](UiUser& user, const KeyPress& key) {
       const float with = user.timeline().Plot().height();
       user.Press(key);
       EXPECT_GT(user.timeline().Plot().height(), with) << "its room is the timeline's now";
     }},
    {CommandId::kClear,
     [](UiUser& user, const KeyPress& key) {
       SelectFirstKernel(user);
       EXPECT_NE(user.SelectedRow(), "");
       user.Press(key);
       EXPECT_EQ(user.SelectedRow(), "");
     }},
    {CommandId::kPalette,
     [](UiUser& user, const KeyPress& key) {
       user.Press(key);
       EXPECT_TRUE(user.workspace().IsShown(Panel::kPalette));
     }},
    {CommandId::kOpenRecording,
     [](UiUser& user, const KeyPress& key) {
       user.Press(key);
       EXPECT_TRUE(user.workspace().IsShown(Panel::kOpenDialog));
     }},
    {CommandId::kQuit,
     [](UiUser& user, const KeyPress& key) {
       EXPECT_FALSE(user.workspace().wants_quit());
       user.Press(key);
       EXPECT_TRUE(user.workspace().wants_quit());
     }},
    {CommandId::kCopyLink,
     [](UiUser& user, const KeyPress& key) {
       user.Press(key);
       ExpectGivenToTheBrowser(user, CommandId::kCopyLink);
     }},
    {CommandId::kSavePicture,
     [](UiUser& user, const KeyPress& key) {
       user.Press(key);
       ExpectGivenToTheBrowser(user, CommandId::kSavePicture);
     }},
    {CommandId::kHelp,
     [](UiUser& user, const KeyPress& key) {
       user.Press(key);
       EXPECT_TRUE(user.workspace().IsShown(Panel::kHelp));
     }},
};

void ExpectNothingHappens(UiUser& user, const KeyPress& key) {
  const std::string before = DumpState(user.workspace());
  user.Press(key);
  EXPECT_EQ(DumpState(user.workspace()), before);
  EXPECT_EQ(user.workspace().notice(), "");
  EXPECT_FALSE(user.workspace().wants_quit());
  EXPECT_EQ(user.TakeForBrowser(), std::nullopt);
}

}  // namespace

void ExpectEveryCommandWorks(UiUser& user) {
  for (const Command& command : Commands()) {
    const auto* const effect =
        std::ranges::find(kCommandEffects, command.id, &CommandEffect::command);
    ASSERT_NE(effect, std::end(kCommandEffects)) << command.title << " has no test";
    for (const KeyPress& key : {command.key, command.other_key}) {
      if (key.key == Key::kNoKey) continue;
      SCOPED_TRACE(KeyPressName(key));
      user.Open(WriteSampleRun);
      IsOffered(command.id, user.place()) ? effect->check(user, key)
                                          : ExpectNothingHappens(user, key);
    }
  }
}

}  // namespace traceinject
