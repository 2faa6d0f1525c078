// SPDX-License-Identifier: Apache-2.0
// The window's session without a window: frames are drawn into ImGui's lists only.
#include "viewer/app/window_session.h"

#include <gtest/gtest.h>
#include <imgui.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"
#include "viewer/core/testing/slow_rank.h"
#include "viewer/ui/testing/headless_imgui.h"

namespace traceinject {
namespace {

void WriteKernels(const std::string& path, int count) {
  RunDbFixture file(path, {.rank = 3});
  for (int i = 0; i < count; ++i) file.AddKernel({.start_ns = i * 10 * kUs, .dur_ns = 5 * kUs});
  file.Close();
}

class WindowSessionTest : public testing::Test {
 protected:
  WindowSessionTest() { WriteSampleRun(run_); }

  void Open(bool follow = false) {
    ViewerOptions options;
    options.paths = {run_};
    options.follow = follow;
    session_.emplace(options);
  }
  WindowNext Frame(const WindowFrame& frame = {}) {
    ImGui::NewFrame();
    const WindowNext next = session_->Frame(frame);
    ImGui::Render();
    return next;
  }
  // Frames until the condition holds; at most a minute.
  template <typename Condition>
  void FramesUntil(Condition holds) {
    for (int i = 0; i < 6'000 && !holds(); ++i) {
      Frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(holds());
  }
  bool IsShown() const { return session_->ui().timeline() != nullptr; }
  const Timeline& timeline() const { return *session_->ui().timeline(); }
  std::size_t Operations() const { return timeline().run().ranks.at(0).devices.at(0).ops.size(); }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run.db";
  HeadlessImGui imgui_;  // outlives the session
  std::optional<WindowSession> session_;
};

TEST_F(WindowSessionTest, ShowsTheRunOnceItIsRead) {
  Open();
  FramesUntil([this] { return IsShown(); });
  EXPECT_EQ(Operations(), 22U);
  FramesUntil([this] { return Frame() == WindowNext::kWaitForInput; });
}

TEST_F(WindowSessionTest, FirstShowsWhatWasJudgedUnlessTheWholeRunIsAskedFor) {
  WriteSlowRank(folder_ / "two.db");
  ViewerOptions options;
  options.paths = {folder_ / "two.db"};
  const auto shows_all = [this] { return timeline().view().end_ns() >= timeline().model().end; };
  for (const bool whole : {false, true}) {
    options.whole_run = whole;
    session_.emplace(options);
    FramesUntil([this] { return IsShown() && session_->ui().report() != nullptr; });
    Frame();
    EXPECT_EQ(shows_all(), whole);
  }
  // Of another one nothing was asked for.
  Frame({.keys = {}, .dropped = {folder_ / "two.db"}});
  FramesUntil([&] { return !shows_all(); });
}

TEST_F(WindowSessionTest, WhatIsDroppedReplacesTheRun) {
  Open();
  FramesUntil([this] { return IsShown(); });
  const std::string other = folder_ / "other.db";
  WriteKernels(other, 5);
  Frame({.keys = {}, .dropped = {other}});
  FramesUntil([this] { return Operations() == 5; });
  EXPECT_EQ(timeline().run().ranks.at(0).rank, 3);
  EXPECT_FALSE(timeline().selection().has_value());
  EXPECT_EQ(session_->title(), "traceview " + other);
}

TEST_F(WindowSessionTest, AFolderMayBeDropped) {
  Open();
  const TemporaryFolder other;
  WriteKernels(other / "run.db", 7);
  Frame({.keys = {}, .dropped = {other.path().string()}});
  FramesUntil([this] { return IsShown() && Operations() == 7; });
}

TEST_F(WindowSessionTest, ADamagedFileIsSaidAndTheWindowGoesOn) {
  std::ofstream(run_, std::ios::trunc) << "no database";
  Open();
  FramesUntil([this] { return !session_->problem().empty(); });
  EXPECT_NE(session_->problem().find("run.db"), std::string::npos);
  EXPECT_NE(Frame(), WindowNext::kClose);
  EXPECT_FALSE(IsShown());

  const std::string other = folder_ / "other.db";
  WriteKernels(other, 5);
  Frame({.keys = {}, .dropped = {other}});
  FramesUntil([this] { return IsShown(); });
  EXPECT_EQ(session_->problem(), "");
}

TEST_F(WindowSessionTest, ADamagedFileLeavesTheRunThatWasShown) {
  Open();
  FramesUntil([this] { return IsShown(); });
  std::ofstream(folder_ / "bad.db") << "no database";
  Frame({.keys = {}, .dropped = {folder_ / "bad.db"}});
  FramesUntil([this] { return !session_->problem().empty(); });
  Frame();
  EXPECT_EQ(Operations(), 22U);
  EXPECT_EQ(session_->title(), "traceview " + run_);
  Frame({.keys = {}, .dropped = {folder_ / "missing.db"}});
  FramesUntil([this] { return session_->problem().find("missing.db") != std::string::npos; });
}

TEST_F(WindowSessionTest, FollowingKeepsWhatIsShown) {
  WriteKernels(run_, 10);
  Open(true);
  FramesUntil([this] { return IsShown(); });
  FramesUntil([this] { return Frame() == WindowNext::kWaitForInput; });
  Frame({.keys = {Key::kW, Key::kW, Key::kD}, .dropped = {}});
  Frame();
  const TimelineView view = timeline().view();
  ASSERT_GT(view.start_ns(), timeline().model().start);
  WriteKernels(folder_ / "new.db", 40);
  std::filesystem::rename(folder_ / "new.db", run_);
  FramesUntil([this] { return Operations() == 40; });
  EXPECT_EQ(timeline().view().start_ns(), view.start_ns());
  EXPECT_EQ(timeline().view().end_ns(), view.end_ns());
}

TEST_F(WindowSessionTest, FollowingGoesOnAtTheEnd) {
  WriteKernels(run_, 10);
  Open(true);
  FramesUntil([this] { return IsShown(); });
  FramesUntil([this] { return Frame() == WindowNext::kWaitForInput; });
  Frame({.keys = {Key::kW, Key::kW, Key::kW, Key::kW}, .dropped = {}});
  const auto to_the_end = [this] { return timeline().model().end - timeline().view().end_ns(); };
  while (to_the_end() > 0) Frame({.keys = {Key::kD}, .dropped = {}});
  const TimeNs span = timeline().view().span_ns(), end = timeline().model().end,
               left = to_the_end();
  WriteKernels(folder_ / "new.db", 40);
  std::filesystem::rename(folder_ / "new.db", run_);
  FramesUntil([this] { return Operations() == 40; });
  ASSERT_GT(timeline().model().end, end);
  EXPECT_EQ(to_the_end(), left);
  EXPECT_EQ(timeline().view().span_ns(), span);
}

TEST_F(WindowSessionTest, AnythingMayBeDroppedWhileReading) {
  Open();
  for (int i = 0; i < 20; ++i) {
    Frame({.keys = {}, .dropped = {i % 2 == 0 ? folder_ / "missing.db" : run_}});
  }
  FramesUntil([this] { return IsShown(); });
  EXPECT_EQ(session_->problem(), "");
}

TEST_F(WindowSessionTest, WithoutARecordingOneIsAskedFor) {
  session_.emplace(ViewerOptions(), folder_ / "recent");
  EXPECT_EQ(session_->title(), "traceview");
  FramesUntil([this] { return Frame() == WindowNext::kWaitForInput; });  // it has read the folder
  EXPECT_FALSE(IsShown());
  ImGui::GetIO().AddInputCharactersUTF8(run_.c_str());
  FramesUntil([this] { return session_->ui().open_dialog().text() == run_; });
  Frame({.keys = {Key::kEnter}, .dropped = {}});
  FramesUntil([this] { return IsShown(); });
  EXPECT_EQ(session_->title(), "traceview " + run_);
  session_.reset();
  EXPECT_EQ(RecentFiles(folder_ / "recent").paths(), std::vector<std::string>{run_});
}

TEST_F(WindowSessionTest, WhatCannotBeOpenedIsSaidAndTheNextOneIsAskedFor) {
  ViewerOptions options;
  options.paths = {folder_ / "missing.db"};
  session_.emplace(options, folder_ / "recent");
  FramesUntil([this] { return !session_->problem().empty(); });
  Frame();
  Frame();
  const std::optional<Box> close = session_->ui().controls().Find("problem: close");
  ASSERT_TRUE(close.has_value());
  ImGuiIO& io = ImGui::GetIO();
  io.MousePos = {(close->left + close->right) / 2, (close->top + close->bottom) / 2};
  for (const bool down : {false, true, false}) {
    io.MouseDown[0] = down;
    Frame();
  }
  Frame();
  EXPECT_TRUE(session_->ui().controls().Find("open: path").has_value());
  EXPECT_TRUE(RecentFiles(folder_ / "recent").paths().empty());
}

}  // namespace
}  // namespace traceinject
