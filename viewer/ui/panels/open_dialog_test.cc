// SPDX-License-Identifier: Apache-2.0
#include "viewer/ui/panels/open_dialog.h"

#include <filesystem>
#include <fstream>

#include "machine/testing/temporary_folder.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

// A folder "runs" with a recording, beside another recording.
class OpenDialogTest : public UiFixture {
 protected:
  OpenDialogTest() {
    std::filesystem::create_directory(folder_.path() / "runs");
    std::ofstream(folder_ / "runs/run.db") << "x";
    std::ofstream(folder_ / "other.db") << "x";
  }
  // Nothing is being read.
  void Start() {
    ui_.SetOpening("");
    Settle();
  }
  void Press(Key key) {
    Frame({key});
    Settle();
  }
  std::string text() const { return ui_.open_dialog().text(); }

  const TemporaryFolder folder_;
};

TEST_F(OpenDialogTest, APathIsTypedCompletedAndOpened) {
  Start();
  Type(folder_.path().string() + "/r");
  Press(Key::kTab);
  EXPECT_EQ(text(), folder_ / "runs/");
  EXPECT_TRUE(ui_.controls().Find("open: run.db").has_value()) << "what is in the folder";
  Type("run");
  EXPECT_EQ(text(), folder_ / "runs/run") << "typing goes on behind it";
  Press(Key::kTab);
  EXPECT_EQ(ui_.TakeChosen(), "");
  Press(Key::kEnter);
  EXPECT_EQ(ui_.TakeChosen(), folder_ / "runs/run.db");
}

TEST_F(OpenDialogTest, AListIsClickedThrough) {
  Start();
  Type(folder_.path().string() + "/");
  EXPECT_TRUE(ui_.controls().Find("open: other.db").has_value());
  Click("open: runs/");
  EXPECT_EQ(text(), folder_ / "runs/");
  EXPECT_FALSE(ui_.controls().Find("open: other.db").has_value());
  Click("open: ../");
  EXPECT_EQ(text(), folder_ / "runs/../");
  EXPECT_TRUE(ui_.controls().Find("open: other.db").has_value());
  Click("open: runs/");
  Click("open: run.db");
  EXPECT_EQ(ui_.TakeChosen(), folder_ / "runs/../runs/run.db");
}

TEST_F(OpenDialogTest, ArrowsChoose) {
  Start();
  Type(folder_.path().string() + "/");
  Press(Key::kDown);
  Press(Key::kDown);
  Press(Key::kEnter);
  EXPECT_EQ(ui_.TakeChosen(), folder_ / "other.db");
}

TEST_F(OpenDialogTest, AFolderWithRecordingsCanBeOpenedAsOneRun) {
  Start();
  Type(folder_.path().string() + "/runs");
  Press(Key::kEnter);
  EXPECT_EQ(ui_.TakeChosen(), "") << "first one looks into it";
  EXPECT_EQ(text(), folder_ / "runs/");
  Press(Key::kEnter);
  EXPECT_EQ(ui_.TakeChosen(), folder_ / "runs/");
}

TEST_F(OpenDialogTest, WhatWasOpenedBeforeIsAClickAway) {
  ui_.SetRecent({"/data/old.db"});
  Start();
  Click("open: recent 0");
  EXPECT_EQ(ui_.TakeChosen(), "/data/old.db");
}

TEST_F(OpenDialogTest, TheWindowCanBeClosedFromTheStartScreen) {
  Start();
  EXPECT_FALSE(ui_.wants_quit());
  Frame({{Key::kQ, {.control = true}}});
  EXPECT_TRUE(ui_.wants_quit());
}

TEST_F(OpenDialogTest, TheMenuOpensItOverATimelineAndEscapeClosesIt) {
  Load();
  Frame({{Key::kO, {.control = true}}});
  Settle();
  EXPECT_TRUE(workspace().IsShown(Panel::kOpenDialog));
  const TimeNs start = timeline().view().start_ns(), span = timeline().view().span_ns();
  Frame({Key::kW});
  Settle();
  EXPECT_EQ(timeline().view().span_ns(), span) << "letters are typed";
  EXPECT_EQ(timeline().view().start_ns(), start);
  Press(Key::kEscape);
  EXPECT_FALSE(workspace().IsShown(Panel::kOpenDialog));
}

TEST_F(OpenDialogTest, ChoosingClosesIt) {
  Load();
  Frame({{Key::kO, {.control = true}}});
  Settle();
  Type(folder_.path().string() + "/other.db");
  Press(Key::kEnter);
  EXPECT_EQ(ui_.TakeChosen(), folder_ / "other.db");
  EXPECT_FALSE(workspace().IsShown(Panel::kOpenDialog));
}

}  // namespace
}  // namespace traceinject
