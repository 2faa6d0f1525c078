// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/testing/units.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

using CommandPaletteTest = UiFixture;

TEST_F(CommandPaletteTest, ThePaletteFindsAndRunsACommand) {
  Load();
  workspace().timeline().Show(2 * kMs, 3 * kMs);
  Frame({{Key::kP, {.control = true, .shift = true}}});
  Frame();
  Type("run whole");
  Frame({Key::kW});
  EXPECT_EQ(timeline().view().span_ns(), kMs) << "letters are text now, not commands";
  Frame({Key::kEnter});
  EXPECT_FALSE(workspace().IsShown(Panel::kPalette));
  EXPECT_GT(timeline().view().span_ns(), kMs);
}

TEST_F(CommandPaletteTest, ThePaletteMovesWithTheArrowsAndForgetsWhatWasTyped) {
  Load();
  workspace().Do(CommandId::kPalette);
  Frame();
  Type("mark");
  Frame({Key::kEscape});
  EXPECT_FALSE(workspace().IsShown(Panel::kPalette));
  workspace().Do(CommandId::kPalette);
  Frame();
  const TimeNs span = timeline().view().span_ns();
  MoveTo({-1, -1});
  Frame({Key::kDown, Key::kDown, Key::kUp, Key::kUp, Key::kUp});
  Frame({Key::kEnter});
  EXPECT_LT(timeline().view().span_ns(), span) << "the first of all is to zoom in";
}

}  // namespace
}  // namespace traceinject
