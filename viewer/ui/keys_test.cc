// SPDX-License-Identifier: Apache-2.0
// What keys do in the window.
#include "analyzer/model/testing/units.h"
#include "viewer/ui/testing/command_effects.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

using KeysTest = UiFixture;

TEST_F(KeysTest, KeysZoomAndMove) {
  Load();
  const TimeNs span = ui_.timeline()->view().span_ns();
  Frame({Key::kW, Key::kW, Key::kW});
  EXPECT_NEAR(static_cast<double>(ui_.timeline()->view().span_ns()),
              static_cast<double>(span) / 1.25 / 1.25 / 1.25, 10);
  const TimeNs start = ui_.timeline()->view().start_ns();
  Frame({Key::kD});
  EXPECT_GT(ui_.timeline()->view().start_ns(), start);
  Frame({Key::kHome});
  EXPECT_EQ(ui_.timeline()->view().span_ns(), span);
}

TEST_F(KeysTest, ClickSelectsFFitsAndEscapeClears) {
  Load();
  MoveTo(Place("GPU 0", 1'025 * kUs));
  ASSERT_TRUE(ui_.timeline()->hover().has_value());
  SetButton(true);
  SetButton(false);
  ASSERT_TRUE(ui_.timeline()->selection().has_value());
  Frame({Key::kF});
  EXPECT_EQ(ui_.timeline()->view().start_ns(), 950 * kUs);
  EXPECT_EQ(ui_.timeline()->view().end_ns(), 1'100 * kUs);
  Frame({Key::kEscape});
  EXPECT_FALSE(ui_.timeline()->selection().has_value());
}

TEST_F(KeysTest, HelpOpensAndCloses) {
  Load();
  const int without = ImGui::GetDrawData()->TotalVtxCount;
  Frame({Key::kQuestion});
  Frame();
  EXPECT_GT(ImGui::GetDrawData()->TotalVtxCount, without + 1'000);
  Frame({Key::kEscape});
  EXPECT_EQ(ImGui::GetDrawData()->TotalVtxCount, without);
}

TEST_F(KeysTest, EveryCommandDoesItsWorkByEachOfItsKeys) { ExpectEveryCommandWorks(*this); }

}  // namespace
}  // namespace traceinject
