// SPDX-License-Identifier: Apache-2.0
#include <imgui.h>

#include <algorithm>
#include <iterator>

#include "viewer/core/testing/sample_run.h"
#include "viewer/ui/testing/command_effects.h"

namespace traceinject {
namespace {

constexpr Modifiers kWithControl{.control = true}, kWithShift{.shift = true}, kWithAlt{.alt = true};

MousePlace InStream(const UiUser& user, TimeNs time) { return user.Place("stream 7", time); }
MousePlace Beside(const MousePlace& place, float x_px) { return {place.x + x_px, place.y}; }

// Of what is shown from 2 ms to 3 ms the 100 us before.
void ExpectPanned(UiUser& user, int button, Modifiers held) {
  user.Show(2 * kMs, 3 * kMs);
  user.Hold(held);
  user.Drag(InStream(user, 2'600 * kUs), InStream(user, 2'700 * kUs), button);
  EXPECT_NEAR(static_cast<double>(user.timeline().view().start_ns()), 1'900e3, 2e3);
  EXPECT_EQ(user.timeline().view().span_ns(), kMs);
  EXPECT_FALSE(user.timeline().measure().has_value());
}

struct GestureEffect {
  GestureId gesture;
  void (*check)(UiUser& user);
};

constexpr GestureEffect kGestureEffects[] = {
    {GestureId::kWheel,
     [](UiUser& user) {
       user.SetHeight(260);
       user.MoveTo(user.Place("rank 0 on node-a", 2 * kMs));
       user.Turn(-1);
       EXPECT_GT(user.timeline().scroll_px(), 0);
     }},
    {GestureId::kControlWheel,
     [](UiUser& user) {
       const MousePlace at = InStream(user, 2 * kMs);
       user.MoveTo(at);
       const TimeNs before = user.timeline().view().span_ns();
       user.Hold(kWithControl);
       user.Turn(2);
       EXPECT_LT(user.timeline().view().span_ns(), before * 7 / 10);
       EXPECT_NEAR(InStream(user, 2 * kMs).x, at.x, 1);
     }},
    {GestureId::kShiftWheel,
     [](UiUser& user) {
       user.Show(2 * kMs, 3 * kMs);
       user.MoveTo(InStream(user, 2'500 * kUs));
       user.Hold(kWithShift);
       user.Turn(-1);
       EXPECT_EQ(user.timeline().view().start_ns(), 2'100 * kUs);
     }},
    {GestureId::kHover,
     [](UiUser& user) {
       user.MoveTo(InStream(user, 1'025 * kUs));
       ASSERT_TRUE(user.timeline().hover().has_value());
       ASSERT_EQ(user.timeline().hover_links().causes.size(), 1U);
       const std::size_t with = user.Vertices();
       user.MoveTo(InStream(user, 4'500 * kUs));
       EXPECT_FALSE(user.timeline().hover().has_value());
       EXPECT_LT(user.Vertices(), with) << "tooltip and frame are gone";
     }},
    {GestureId::kClick,
     [](UiUser& user) {
       user.Click(InStream(user, 1'025 * kUs));
       EXPECT_EQ(user.SelectedRow(), "stream 7");
       user.Click(InStream(user, 4'500 * kUs));
       EXPECT_EQ(user.SelectedRow(), "");
     }},
    {GestureId::kControlClick,
     [](UiUser& user) {
       user.Open(WriteRunWithCode);
       user.Hold(kWithControl);
       user.Click(user.Place("thread 4242: Python", 2 * kMs));
       const std::string& notice = user.workspace().notice();
       const bool opens = notice.find("data.py is not on this machine") != std::string::npos;
       EXPECT_EQ(opens, IsOffered(CommandId::kOpenEditor, user.place())) << notice;
     }},
    {GestureId::kDoubleClick,
     [](UiUser& user) {
       user.MoveTo(InStream(user, 1'025 * kUs));
       for (const bool down : {true, false}) user.SetButton(down);
       for (const bool down : {true, false}) user.SetButton(down, 0, true);
       EXPECT_EQ(user.SelectedRow(), "stream 7");
       EXPECT_EQ(user.timeline().view().start_ns(), 950 * kUs);
     }},
    {GestureId::kDrag,
     [](UiUser& user) {
       user.Drag(Beside(InStream(user, kMs), -2), Beside(InStream(user, 1'150 * kUs), 2));
       ASSERT_TRUE(user.timeline().measure().has_value());
       EXPECT_EQ(user.timeline().measure()->start, kMs) << "snapped";
       EXPECT_EQ(user.timeline().measure()->end, 1'150 * kUs);
     }},
    {GestureId::kAltDrag,
     [](UiUser& user) {
       user.Hold(kWithAlt);
       user.Drag(Beside(InStream(user, kMs), -3), Beside(InStream(user, 1'150 * kUs), 3));
       ASSERT_TRUE(user.timeline().measure().has_value());
       EXPECT_LT(user.timeline().measure()->start, kMs) << "not snapped";
       EXPECT_GT(user.timeline().measure()->end, 1'150 * kUs);
     }},
    {GestureId::kEdgeDrag,
     [](UiUser& user) {
       user.Drag(InStream(user, kMs), InStream(user, 1'150 * kUs));
       user.Drag(InStream(user, 1'150 * kUs), InStream(user, 1'550 * kUs));
       ASSERT_TRUE(user.timeline().measure().has_value());
       EXPECT_EQ(user.timeline().measure()->start, kMs);
       EXPECT_EQ(user.timeline().measure()->end, 1'550 * kUs);
     }},
    {GestureId::kRightDrag, [](UiUser& user) { ExpectPanned(user, 1, {}); }},
    {GestureId::kShiftDrag, [](UiUser& user) { ExpectPanned(user, 0, kWithShift); }},
    {GestureId::kMiddleDrag,
     [](UiUser& user) {
       user.Drag(InStream(user, kMs), InStream(user, 2 * kMs), 2);
       EXPECT_NEAR(static_cast<double>(user.timeline().view().start_ns()), 1e6, 5e3);
       EXPECT_NEAR(static_cast<double>(user.timeline().view().span_ns()), 1e6, 1e4);
     }},
    {GestureId::kMarkClick,
     [](UiUser& user) {
       user.MoveTo(user.Place("rank 0 on node-a", 2'020 * kUs));
       user.Press(Key::kM);
       user.Press(Key::kEscape);
       ASSERT_FALSE(user.workspace().selected_mark().has_value());
       const auto [x, y] = user.Origin();
       const Box flag = user.workspace().MarkFlag(user.marks().at(0));
       user.Click({x + flag.left + 4, y + flag.top + 4});
       EXPECT_TRUE(user.workspace().selected_mark().has_value());
     }},
    {GestureId::kFold,
     [](UiUser& user) {
       const std::uint32_t gpu = user.RowOf("GPU 0");
       const Box triangle = user.timeline().Triangle(gpu);
       const auto [x, y] = user.Origin();
       user.Click({x + (triangle.left + triangle.right) / 2, y + triangle.top + 8});
       EXPECT_TRUE(user.timeline().row_list().IsCollapsed(gpu));
     }},
    {GestureId::kRowMenu,
     [](UiUser& user) {
       const auto [x, y] = user.Origin();
       const float top = user.timeline().RowTop(user.RowOf("stream 7"));
       user.Click({x + user.timeline().Plot().left - 60, y + top + 5}, 1);
       EXPECT_TRUE(ImGui::IsPopupOpen("row menu", ImGuiPopupFlags_AnyPopupId));
       user.Click(InStream(user, 2 * kMs));
       EXPECT_FALSE(ImGui::IsPopupOpen("row menu", ImGuiPopupFlags_AnyPopupId))
           << "a click beside it closes it";
     }},
    {GestureId::kOverview,
     [](UiUser& user) {
       user.Show(2 * kMs, 2'100 * kUs);
       const std::optional<Box> strip = user.ui().controls().Find("overview");
       ASSERT_TRUE(strip.has_value());
       user.Click({strip->left + user.timeline().Plot().left + 5, strip->top + 5});
       EXPECT_LT(user.timeline().view().start_ns(), kMs);
     }},
};

}  // namespace

void ExpectEveryGestureWorks(UiUser& user) {
  for (const Gesture& gesture : Gestures()) {
    const auto* const effect =
        std::ranges::find(kGestureEffects, gesture.id, &GestureEffect::gesture);
    ASSERT_NE(effect, std::end(kGestureEffects)) << gesture.gesture << " has no test";
    SCOPED_TRACE(std::string(gesture.gesture));
    user.Open(WriteSampleRun);
    effect->check(user);
  }
}

}  // namespace traceinject
