// SPDX-License-Identifier: Apache-2.0
// What a browser's user does, as bytes, and what that changes.
#include "viewer/serve/viewer_session.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "viewer/core/testing/sample_run.h"
#include "viewer/core/testing/slow_rank.h"
#include "viewer/serve/testing/input_bytes.h"

namespace traceinject {
namespace {

class ViewerSessionTest : public testing::Test {
 protected:
  ViewerSessionTest() {
    WriteSampleRun(path_);
    run_.emplace(std::vector<std::string>{path_});
  }

  static constexpr bool kSavesNot = false;

  void OpenSlowRank(const std::string& link = "", const std::string& state = "") {
    WriteSlowRank(path_);
    std::filesystem::remove(path_);
    run_.emplace(std::vector<std::string>{path_});
    leads_ = true;
    Open(link, 800, state);
  }
  void Open(const std::string& link = "", std::uint16_t height = 800, const std::string& state = "",
            bool saves = true) {
    SessionStart start;
    start.name = "run.db";
    start.link = link;
    start.screen = {1400, height, 1};
    start.saves = saves;
    start.leads_to_verdict = leads_;
    session_.emplace(*run_, start);
    session_->Take(StateGiven{state});
    for (int i = 0; i < 6'000 && !IsShown(); ++i) {
      run_->Update();
      session_->Draw();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ASSERT_TRUE(IsShown());
    Settle();
  }
  bool IsShown() const { return session_->ui().timeline() != nullptr && !run_->progress(); }
  void Settle() {
    while (session_->IsDue()) session_->Draw();
    session_->ui().WaitForPanels();
    session_->Draw();
    while (session_->IsDue()) session_->Draw();
  }
  static void Take(ViewerSession& session, const std::string& message) {
    const auto events = ReadInputEvents(message);
    ASSERT_TRUE(events.has_value());
    for (const InputEvent& event : *events) session.Take(event);
    while (session.IsDue()) session.Draw();
  }
  void Tell(const std::string& message) {
    Take(*session_, message);
    Settle();
  }
  const Timeline& timeline() const { return *session_->ui().timeline(); }
  Box TimelineBox() const { return session_->ui().controls().Find("timeline").value_or(Box()); }
  // On the screen, of a moment of a row.
  MousePlace Place(const std::string& label, TimeNs time) const {
    const auto& rows = timeline().model().rows;
    const auto row = std::ranges::find(rows, label, &Row::label) - rows.begin();
    const Box box = TimelineBox();
    return {box.left + timeline().Plot().left + timeline().view().X(time),
            box.top + timeline().LaneTop(static_cast<std::size_t>(row), 0) + 4};
  }
  void Click(const MousePlace& at) {
    Tell(MoveBytes(at.x, at.y) + ButtonBytes(0, true) + ButtonBytes(0, false));
  }

  // To an earlier time, and the button stays down.
  void BeginDrag(std::uint8_t button) {
    const MousePlace from = Place("stream 7", 2 * kMs);
    Tell(MoveBytes(from.x, from.y));
    Tell(ButtonBytes(button, true));
    Tell(MoveBytes(from.x - 200, from.y));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  bool leads_ = false;
  std::optional<SharedRun> run_;
  std::optional<ViewerSession> session_;
};

TEST_F(ViewerSessionTest, KeysZoomAndPan) {
  Open();
  const TimeNs span = timeline().view().span_ns();
  Tell(KeyBytes(Key::kW, "w") + KeyBytes(Key::kW, "w"));
  EXPECT_LT(timeline().view().span_ns(), span);
  const TimeNs start = timeline().view().start_ns();
  Tell(KeyBytes(Key::kD, "d"));
  EXPECT_GT(timeline().view().start_ns(), start);
  Tell(KeyBytes(Key::kHome));
  EXPECT_EQ(timeline().view().span_ns(), span);
}

TEST_F(ViewerSessionTest, AClickInOneMessageSelects) {
  Open();
  Click(Place("stream 7", 1'025 * kUs));
  ASSERT_TRUE(timeline().selection().has_value());
  Tell(KeyBytes(Key::kEscape));
  EXPECT_FALSE(timeline().selection().has_value());
}

TEST_F(ViewerSessionTest, ControlAndTheWheelZoomAtThePointer) {
  Open();
  const MousePlace at = Place("stream 7", 2 * kMs);
  const TimeNs span = timeline().view().span_ns();
  Tell(HoldBytes({.control = true}) + MoveBytes(at.x, at.y) + WheelBytes(2, 0) + HoldBytes({}));
  EXPECT_LT(timeline().view().span_ns(), span * 7 / 10);
  EXPECT_NEAR(Place("stream 7", 2 * kMs).x, at.x, 1);
}

TEST_F(ViewerSessionTest, AFingerMovesTheTimelineAndDoesNotMeasure) {
  Open("t=1ms..2ms");
  const MousePlace from = Place("stream 7", 2'500 * kUs);
  const TimeNs start = timeline().view().start_ns();
  Tell(FingerBytes(true, from.x, from.y) + MoveBytes(from.x - 100, from.y) +
       MoveBytes(from.x - 200, from.y) + FingerBytes(false, from.x - 200, from.y));
  EXPECT_GT(timeline().view().start_ns(), start);
  EXPECT_FALSE(timeline().measure().has_value());
  Tell(MoveBytes(from.x, from.y));
  const TimeNs then = timeline().view().start_ns();
  Tell(MoveBytes(from.x + 300, from.y));
  EXPECT_EQ(timeline().view().start_ns(), then) << "it was lifted";
}

// All in one message, as over a slow link: what opens the field, what is typed into it, and Enter.
TEST_F(ViewerSessionTest, TypedTextGoesToTheFieldThatAKeyOpened) {
  Open();
  const TimeNs all = timeline().view().span_ns();
  const ThemeId theme = timeline().look().theme;
  Tell(KeyBytes(Key::kW, "w") + KeyBytes(Key::kW, "w"));
  ASSERT_LT(timeline().view().span_ns(), all);
  Tell(KeyBytes({Key::kP, {.control = true, .shift = true}}) + KeyBytes(Key::kW, "w") +
       KeyBytes(Key::kH, "h") + KeyBytes(Key::kT, "t") + KeyBytes(Key::kT, "t") +
       KeyBytes(Key::kBackspace) + KeyBytes(Key::kBackspace) + KeyBytes(Key::kO, "o") +
       KeyBytes(Key::kL, "l") + KeyBytes(Key::kE, "e") + KeyBytes(Key::kEnter));
  EXPECT_EQ(timeline().view().span_ns(), all) << "the command Whole run";
  EXPECT_EQ(timeline().look().theme, theme) << "no letter was a command";
}

TEST_F(ViewerSessionTest, NothingIsDueOnceItHasSettled) {
  Open();
  session_->Wake();
  while (session_->IsDue()) session_->Draw();
  session_->Wake();
  EXPECT_FALSE(session_->IsDue());
  const DrawnFrame before = session_->frame();
  session_->Draw();
  EXPECT_TRUE(session_->frame() == before) << "the same frame, to the bit";
}

TEST_F(ViewerSessionTest, TwoLookAtOneRecordingEachInItsOwnWay) {
  Open();
  SessionStart start;
  start.screen = {900, 600, 2};
  ViewerSession other(*run_, start);
  for (int i = 0; i < 5; ++i) other.Draw();
  ASSERT_NE(other.ui().timeline(), nullptr);
  EXPECT_EQ(&other.ui().timeline()->run(), &timeline().run()) << "read once";
  const TimeNs span = timeline().view().span_ns();
  Take(other, KeyBytes(Key::kW));
  EXPECT_LT(other.ui().timeline()->view().span_ns(), span);
  Settle();
  EXPECT_EQ(timeline().view().span_ns(), span);
  EXPECT_EQ(other.frame().width_px, 900);
  EXPECT_EQ(session_->frame().width_px, 1400);
}

TEST_F(ViewerSessionTest, AnotherSizeIsDrawnAndAnotherScaleHasAnotherFont) {
  Open();
  ASSERT_TRUE(session_->TakeFont().has_value());
  Tell(InputBytes(InputKind::kScreen)
           .Add(std::uint16_t{700})
           .Add(std::uint16_t{500})
           .Add(1.0F)
           .bytes());
  EXPECT_EQ(session_->frame().width_px, 700);
  EXPECT_FALSE(session_->TakeFont().has_value());
  Tell(InputBytes(InputKind::kScreen)
           .Add(std::uint16_t{700})
           .Add(std::uint16_t{500})
           .Add(2.0F)
           .bytes());
  EXPECT_TRUE(session_->TakeFont().has_value());
  // Whatever a browser claims to be.
  Tell(InputBytes(InputKind::kScreen)
           .Add(std::uint16_t{0})
           .Add(std::uint16_t{65535})
           .Add(1e5F)
           .bytes());
  EXPECT_GT(session_->frame().width_px, 0);
  EXPECT_LT(session_->frame().height_px, 10'000);
}

TEST_F(ViewerSessionTest, ALinkShowsWhatItWasMadeOf) {
  Open();
  EXPECT_EQ(session_->link(), "");
  Tell(KeyBytes(Key::kW) + KeyBytes(Key::kW) + KeyBytes(Key::kD));
  Click(Place("stream 7", 1'825 * kUs));
  ASSERT_TRUE(timeline().selection().has_value());
  const EventRef selected = *timeline().selection();
  const TimelineView view = timeline().view();
  const std::string link = session_->link();
  EXPECT_NE(link.find("event="), std::string::npos);

  session_.reset();
  Open(link);
  EXPECT_EQ(timeline().selection(), selected);
  const double pixel = view.ns_per_px();
  EXPECT_NEAR(static_cast<double>(timeline().view().start_ns() - view.start_ns()), 0, pixel);
  EXPECT_NEAR(static_cast<double>(timeline().view().end_ns() - view.end_ns()), 0, pixel);
  EXPECT_EQ(session_->link(), link);
}

TEST_F(ViewerSessionTest, ALinkKeepsTheRowAtTheTop) {
  Open("", 420);
  Tell(KeyBytes(Key::kDown) + KeyBytes(Key::kDown));
  ASSERT_GT(timeline().scroll_px(), 0);
  const std::string link = session_->link();
  EXPECT_EQ(link.rfind("row=", 0), 0U);
  const std::uint32_t top = timeline().ScrolledRows().front();
  session_.reset();
  Open(link, 420);
  EXPECT_EQ(timeline().ScrolledRows().front(), top);
}

// As a page gives it back when its connection broke.
TEST_F(ViewerSessionTest, AStateShowsWhatItWasMadeOf) {
  Open("", 800, "", kSavesNot);
  const MousePlace at = Place("stream 7", 2 * kMs);
  Tell(KeyBytes(Key::kT) + KeyBytes(Key::kK) + MoveBytes(at.x, at.y) + KeyBytes(Key::kM) +
       KeyBytes(Key::kH) + KeyBytes(Key::kSlash, "/"));
  const std::string state = session_->TakeState().value();
  EXPECT_EQ(session_->TakeState(), std::nullopt) << "nothing was drawn since";
  EXPECT_NE(state.find("tab=Find"), std::string::npos);
  Open("", 800, state, kSavesNot);
  EXPECT_EQ(session_->TakeState(), state);
  EXPECT_EQ(timeline().look().theme, ThemeId::kLight);
  EXPECT_EQ(session_->ui().workspace()->annotations().marks().size(), 1U);
}

TEST_F(ViewerSessionTest, AStateKeepsTheRowOfItsLinkHidden) {
  Open();
  Click(Place("stream 7", 1'025 * kUs));
  const std::string link = session_->link();
  EXPECT_NE(link.find("row="), std::string::npos);
  Open(link, 800, "filter=NVTX");
  EXPECT_TRUE(timeline().selection().has_value());
  EXPECT_NE(session_->TakeState().value().find("&filter=NVTX&"), std::string::npos);
  session_->Take(LinkFollowed{link});
  Settle();
  EXPECT_NE(session_->TakeState().value().find("&filter=&"), std::string::npos)
      << "without a state a link shows its row";
}

TEST_F(ViewerSessionTest, MarksOfAnotherDoNotReplaceThoseThatAreSaved) {
  Open("", 800, "", kSavesNot);
  const MousePlace at = Place("stream 7", 2 * kMs);
  Tell(KeyBytes(Key::kT) + MoveBytes(at.x, at.y) + KeyBytes(Key::kM));
  const std::string state = session_->TakeState().value();
  Open("", 800, state);
  EXPECT_EQ(timeline().look().theme, ThemeId::kLight);
  EXPECT_TRUE(session_->ui().workspace()->annotations().marks().empty());
}

// A page that connects again holds no button: the drag of the one before does not go on.
TEST_F(ViewerSessionTest, AStateThatIsGivenEndsADrag) {
  Open();
  BeginDrag(0);
  ASSERT_TRUE(timeline().measure().has_value());
  session_->Take(StateGiven{"measure=1.1ms..1.3ms"});
  session_->Take(LinkFollowed{"t=0.5ms..2ms"});
  Settle();
  ASSERT_TRUE(timeline().measure().has_value());
  EXPECT_EQ(timeline().measure()->start - timeline().model().origin, 1'100 * kUs);
  EXPECT_EQ(timeline().measure()->end - timeline().model().origin, 1'300 * kUs);
}

// Nor does it zoom to where it had come.
TEST_F(ViewerSessionTest, AStateThatIsGivenEndsADragThatWouldZoom) {
  Open();
  BeginDrag(2);
  ASSERT_TRUE(timeline().zoom_range().has_value());
  const std::string link = session_->link();
  session_->Take(StateGiven{session_->TakeState().value()});
  session_->Take(LinkFollowed{link});
  Settle();
  EXPECT_FALSE(timeline().zoom_range().has_value());
  EXPECT_EQ(session_->link(), link);
}

TEST_F(ViewerSessionTest, StatesThatSayNothingChangeNothing) {
  Open();
  const std::string first = session_->TakeState().value();
  for (const char* const state : {"theme=blue", "kept={", "measure=2s..1s&kept=[]", "&&=%zz"}) {
    SCOPED_TRACE(state);
    Open("", 800, state, kSavesNot);
    EXPECT_EQ(timeline().look().theme, ThemeId::kDark);
    EXPECT_FALSE(timeline().measure().has_value());
  }
  Open("", 800, "tab=Nothing");
  EXPECT_NE(session_->TakeState().value().find("tab=Verdict"), std::string::npos);
  EXPECT_NE(first.find("tab=Verdict"), std::string::npos);
}

TEST_F(ViewerSessionTest, TheVerdictIsThatOfTheOthers) {
  Open();
  SessionStart start;
  start.screen = {800, 600, 1};
  ViewerSession other(*run_, start);
  for (int i = 0; i < 3; ++i) other.Draw();
  ASSERT_NE(other.ui().report(), nullptr) << "it was worked out already";
  EXPECT_EQ(other.ui().report(), session_->ui().report());
}

TEST_F(ViewerSessionTest, FirstShowsWhatWasJudgedAndALinkNamesTheWholeRun) {
  OpenSlowRank();
  EXPECT_EQ(session_->link().rfind("t=", 0), 0U);
  EXPECT_NE(session_->link(), "t=all");
  Tell(KeyBytes(Key::kHome));
  EXPECT_EQ(session_->link(), "t=all");
  session_.reset();
  OpenSlowRank("t=all");
  EXPECT_EQ(session_->link(), "t=all");
  session_->Take(LinkFollowed{"t=100ms..200ms"});
  Settle();
  EXPECT_EQ(timeline().view().span_ns(), 100 * kMs);
  session_->Take(LinkFollowed{"t=all"});
  Settle();
  EXPECT_EQ(session_->link(), "t=all");
}

TEST_F(ViewerSessionTest, ALinkAndAStateGoBeforeWhatWasJudged) {
  OpenSlowRank("t=100ms..200ms");
  EXPECT_EQ(timeline().view().span_ns(), 100 * kMs);
  session_.reset();
  OpenSlowRank("", "theme=light");
  EXPECT_EQ(session_->link(), "t=all");
}

TEST_F(ViewerSessionTest, LinksThatSayNothingShowEverything) {
  for (const char* const link : {"t=", "t=..", "t=2s..1s", "t=abc..2s", "row=no%20such", "event=1s",
                                 "&&=&%zz=%", "t=-9e99s..9e99s"}) {
    SCOPED_TRACE(link);
    Open(link);
    EXPECT_EQ(session_->link(), "");
  }
}

TEST_F(ViewerSessionTest, WhatOnlyTheBrowserCanDoIsPassedOnOnce) {
  Open();
  EXPECT_EQ(session_->TakeForBrowser(), std::nullopt);
  Tell(KeyBytes(Key::kY, "y"));
  EXPECT_EQ(session_->TakeForBrowser(), CommandId::kCopyLink);
  EXPECT_EQ(session_->TakeForBrowser(), std::nullopt);
}

}  // namespace
}  // namespace traceinject
