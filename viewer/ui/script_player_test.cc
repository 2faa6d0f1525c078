// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/script_player.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"
#include "viewer/ui/testing/headless_imgui.h"

namespace traceinject {
namespace {

class ScriptPlayerTest : public testing::Test {
 protected:
  ScriptPlayerTest() { ui_.SetLoaded(LoadSampleRun(), std::nullopt, std::nullopt); }

  // The error, or nothing. Times in scripts are after the first GPU operation, at 0.9 ms.
  std::string Play(const std::string& script) {
    const auto steps = ParseScript(script);
    if (!steps.ok()) return steps.error();
    const ScriptStage stage{[this](const std::vector<KeyPress>& keys) {
                              ImGui::NewFrame();
                              ui_.Frame(keys);
                              ImGui::Render();
                            },
                            [this](const std::string& path) -> Status {
                              pictures_.push_back(path);
                              if (path == "bad.png") return Error{"bad.png: cannot be written"};
                              return Done{};
                            },
                            [this](const std::string& text) { printed_ += text; }};
    const Status played = PlayScript(steps.value(), ui_, stage);
    return played.ok() ? "" : played.error();
  }
  const Timeline& timeline() const { return *ui_.timeline(); }

  HeadlessImGui imgui_;
  ViewerUi ui_{"run.db"};
  std::vector<std::string> pictures_;
  std::string printed_;
};

TEST_F(ScriptPlayerTest, ShowsZoomsAndMoves) {
  EXPECT_EQ(Play("show 100us 1100us"), "");
  EXPECT_EQ(timeline().view().start_ns(), kMs);
  EXPECT_EQ(timeline().view().span_ns(), kMs);
  EXPECT_EQ(Play("zoom 2 \"stream 7@500us\""), "");
  EXPECT_EQ(timeline().view().span_ns(), 640 * kUs);
  EXPECT_EQ(Play("zoom -2"), "");
  EXPECT_EQ(timeline().view().span_ns(), kMs);
  EXPECT_EQ(Play("wheel -1 shift"), "");
  EXPECT_EQ(timeline().view().start_ns(), 1'100 * kUs);
  EXPECT_EQ(Play("zoom-in"), "");
  EXPECT_EQ(timeline().view().span_ns(), 800 * kUs);
}

TEST_F(ScriptPlayerTest, ClicksSelectsAndFollows) {
  EXPECT_EQ(Play("click \"stream 7@125us\""), "");
  ASSERT_TRUE(timeline().selection().has_value());
  EXPECT_EQ(Play("double-click"), "");
  EXPECT_EQ(timeline().view().span_ns(), 150 * kUs);
  EXPECT_EQ(Play("select \"stream 7#1@350us\"\nkey ["), "");
  EXPECT_EQ(timeline().model().rows[timeline().selection()->row].kind, RowKind::kCalls);
}

TEST_F(ScriptPlayerTest, DragsWithEveryButtonAndModifier) {
  EXPECT_EQ(Play("drag \"stream 7@100us\" \"stream 7@250us\""), "");
  ASSERT_TRUE(timeline().measure().has_value());
  EXPECT_EQ(timeline().measure()->start, kMs);
  EXPECT_EQ(timeline().measure()->end, 1'150 * kUs);
  EXPECT_EQ(Play("clear\nshow 1ms 2ms\ndrag \"stream 7@1600us\" \"stream 7@1500us\" right"), "");
  EXPECT_NEAR(static_cast<double>(timeline().view().start_ns()), 2e6, 2e3);
  EXPECT_EQ(Play("drag \"stream 7@1600us\" \"stream 7@1500us\" shift"), "");
  EXPECT_NEAR(static_cast<double>(timeline().view().start_ns()), 2.1e6, 4e3);
  EXPECT_EQ(Play("drag ruler@1600us ruler@1700us middle"), "");
  EXPECT_NEAR(static_cast<double>(timeline().view().span_ns()), 1e5, 2e3);
  EXPECT_FALSE(timeline().measure().has_value());
  EXPECT_FALSE(ImGui::GetIO().KeyShift);
}

TEST_F(ScriptPlayerTest, ClicksWhatHasAName) {
  EXPECT_EQ(Play("click \"tab: Statistics\""), "");
  EXPECT_EQ(ui_.panels()->tab(), PanelTab::kStatistics);
}

TEST_F(ScriptPlayerTest, PressesKeysAndTypes) {
  EXPECT_EQ(Play("show 1ms 2ms\nkey Ctrl+Shift+P\ntext \"run whole\"\nkey Enter"), "");
  EXPECT_GT(timeline().view().span_ns(), kMs);
  EXPECT_EQ(Play("move \"stream 7@1ms\"\nkey Shift+M\ntext slow"), "");
  ASSERT_EQ(ui_.workspace()->annotations().marks().size(), 1U);
  EXPECT_EQ(ui_.workspace()->annotations().marks()[0].text, "slow");
}

TEST_F(ScriptPlayerTest, WritesPicturesAndStates) {
  const TemporaryFolder folder;
  EXPECT_EQ(Play("screenshot a.png\ndump-state\ndump-state " + (folder / "state.json")), "");
  EXPECT_EQ(pictures_, std::vector<std::string>{"a.png"});
  EXPECT_NE(printed_.find("\"view\""), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "state.json"));
}

TEST_F(ScriptPlayerTest, DropsOtherRecordings) {
  const TemporaryFolder folder;
  const std::string other = folder / "other.db";
  RunDbFixture file(other, {.rank = 3});
  file.AddKernel({.start_ns = 0, .dur_ns = 5 * kUs});
  file.Close();
  EXPECT_EQ(Play("drop /nonexistent.db"), "") << "the window says it";
  EXPECT_EQ(timeline().run().ranks.at(0).rank, 0);
  EXPECT_EQ(Play("drop " + other), "");
  EXPECT_EQ(timeline().run().ranks.at(0).rank, 3);
}

TEST_F(ScriptPlayerTest, TheFirstStepThatFailsNamesItsLine) {
  const std::pair<const char*, const char*> kMistakes[] = {
      {"zoom-in\nselect \"stream 9@0\"", "line 2: no row \"stream 9\""},
      {"select \"stream 7@170us\"", "line 1: no event at \"stream 7@170us\""},
      {"key Hyper+X", "line 1: \"Hyper+X\" is not a key"},
      {"wheel fast", "line 1: \"fast\" is not a number of steps"},
      {"wheel 1e99", "line 1: \"1e99\" is not a number of steps"},
      {"wheel nan", "line 1: \"nan\" is not a number of steps"},
      {"wheel 1 loud", "line 1: \"loud\" is not a modifier"},
      {"drag 400,100 500,100 thumb", "line 1: \"thumb\" is neither a button nor a modifier"},
      {"show 2s 1s", "line 1: the first time must be before the second"},
      {"screenshot bad.png", "line 1: bad.png: cannot be written"},
      {"dump-state /nonexistent/a",
       "line 1: /nonexistent/a: cannot be written: No such file or "
       "directory"},
  };
  for (const auto& [script, message] : kMistakes) EXPECT_EQ(Play(script), message);
}

}  // namespace
}  // namespace traceinject
