// SPDX-License-Identifier: Apache-2.0
// The panels below and above the timeline: their state after clicks, drags and typing.
#include "viewer/ui/panels/panel_area.h"

#include <fmt/format.h>

#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/verdict/testing/simulated_training.h"
#include "viewer/ui/testing/ui_fixture.h"

namespace traceinject {
namespace {

class PanelAreaTest : public UiFixture {
 protected:
  const PanelArea& panels() const { return *ui_.panels(); }

  // A run that waits for its data loader.
  void LoadSlowLoader() {
    TrainingPlan plan;
    plan.load_ns = 25'000'000;
    auto loaded = std::make_unique<LoadedRun>();
    loaded->run.ranks = {SimulatedTraining(plan).rank()};
    loaded->rows = BuildRows(loaded->run);
    Load(std::move(loaded), std::nullopt, std::nullopt);
  }
};

TEST_F(PanelAreaTest, BeginsWithTheVerdict) {
  LoadSlowLoader();
  EXPECT_EQ(panels().tab(), PanelTab::kVerdict);
  ASSERT_NE(ui_.report(), nullptr);
  EXPECT_EQ(ui_.report()->verdict().label(), "dataloader");
  EXPECT_FALSE(ui_.busy());
}

TEST_F(PanelAreaTest, EvidenceJumpsToItsPlaceAndStaysInSight) {
  LoadSlowLoader();
  const proto::Evidence& line = ui_.report()->verdict().evidence(1);
  ASSERT_TRUE(line.has_device());
  Click("evidence 1");
  ASSERT_TRUE(timeline().measure().has_value());
  EXPECT_EQ(timeline().measure()->start, timeline().model().origin + line.start_ns());
  EXPECT_EQ(timeline().measure()->end, timeline().model().origin + line.end_ns());
  EXPECT_LE(timeline().view().start_ns(), timeline().measure()->start);
  EXPECT_GE(timeline().view().end_ns(), timeline().measure()->end);
  EXPECT_EQ(panels().tab(), PanelTab::kVerdict);
  Frame({Key::kBackspace});
  EXPECT_LT(timeline().view().start_ns(), timeline().model().start);
}

// Nothing to judge, to count or to find.
TEST_F(PanelAreaTest, ARunWithoutGpuWorkHasEmptyPanels) {
  RankBuilder builder;
  builder.AddRange({1'000, 9'000, "alone"});
  builder.rank().end = 10'000;
  auto loaded = std::make_unique<LoadedRun>();
  loaded->run.ranks = {builder.rank()};
  loaded->rows = BuildRows(loaded->run);
  Load(std::move(loaded), std::nullopt, std::nullopt);
  EXPECT_EQ(ui_.report()->verdict().label(), "inconclusive");
  Click("tab: Statistics");
  EXPECT_EQ(panels().statistics().names().size(), 1U);
  Click("tab: Find");
  EXPECT_EQ(panels().find().result(), nullptr);
  Click("tab: Details");
  EXPECT_EQ(panels().tab(), PanelTab::kDetails);
}

// A quick look at the beginning gets no verdict; what was looked for is looked for in all of it.
TEST_F(PanelAreaTest, ARunReadAnewKeepsWhatWasLookedFor) {
  const auto read = [](TimeNs until) {
    auto loaded = std::make_unique<LoadedRun>();
    TrainingPlan plan;
    plan.load_ns = 25'000'000;
    loaded->run.ranks = {SimulatedTraining(plan).rank()};
    loaded->run.ranks[0].read_until = until;
    loaded->rows = BuildRows(loaded->run);
    return loaded;
  };
  Load(read(5'000'000), std::nullopt, std::nullopt);
  EXPECT_EQ(ui_.report(), nullptr);
  Click("tab: Find");
  Click("find: text");
  Type("gemm");
  const std::size_t hits = panels().find().result()->count;
  const auto shown = ui_.Replace(read(kOpen));
  Settle();
  EXPECT_NE(shown, nullptr);
  EXPECT_EQ(panels().tab(), PanelTab::kFind);
  ASSERT_NE(panels().find().result(), nullptr);
  EXPECT_EQ(panels().find().result()->count, hits);
  ASSERT_NE(ui_.report(), nullptr);
  EXPECT_EQ(ui_.report()->verdict().label(), "dataloader");
}

TEST_F(PanelAreaTest, TabsOpenByClick) {
  Load();
  Click("tab: Statistics");
  EXPECT_EQ(panels().tab(), PanelTab::kStatistics);
  Click("tab: Details");
  EXPECT_EQ(panels().tab(), PanelTab::kDetails);
  Click("tab: Verdict");
  EXPECT_EQ(panels().tab(), PanelTab::kVerdict);
}

TEST_F(PanelAreaTest, ASelectionShowsDetailsUnlessFiguresAreLookedAt) {
  Load();
  Click(Place("stream 7", 1'025 * kUs));
  ASSERT_TRUE(timeline().selection().has_value());
  EXPECT_EQ(panels().tab(), PanelTab::kDetails);
  Click("tab: Statistics");
  Click(Place("stream 7", 1'225 * kUs));
  EXPECT_EQ(panels().tab(), PanelTab::kStatistics);
}

TEST_F(PanelAreaTest, TheLineAboveGivesRoom) {
  Load();
  const Box before = *ui_.controls().Find("timeline");
  const MousePlace line = Middle("splitter");
  Drag(line, {line.x, line.y - 100});
  EXPECT_NEAR(ui_.controls().Find("timeline")->bottom, before.bottom - 100, 1);
  Drag(Middle("splitter"), {line.x, 5000});
  EXPECT_TRUE(ui_.controls().Find("tab: Find").has_value()) << "the tabs stay";
}

TEST_F(PanelAreaTest, MarksAreListedAndChangedInTheirTab) {
  Load();
  Workspace& workspace = *ui_.workspace();
  const std::vector<Mark>& marks = workspace.annotations().marks();
  for (const TimeNs start : {3'000 * kUs, 1'000 * kUs}) {
    workspace.timeline().SetMeasure(Measure{start, start + 500 * kUs, kNone});
    workspace.Do(CommandId::kNewMark);
  }
  Settle();
  EXPECT_EQ(panels().tab(), PanelTab::kMarks);
  Click("mark 1");
  EXPECT_EQ(workspace.selected_mark(), 1U);
  Click("mark: text");
  Type("slow");
  EXPECT_EQ(marks[1].text, "slow");
  Click(fmt::format("mark: colour {:06x}", MarkColors()[4] >> 8));
  EXPECT_EQ(marks[1].color, MarkColors()[4]);
  Click("mark: show");
  EXPECT_EQ(timeline().view().span_ns(), 3 * 500 * kUs) << "with room on both sides";
  Click("tab: Details");
  EXPECT_EQ(panels().tab(), PanelTab::kDetails);
  Click("tab: Marks");
  Click("mark: delete");
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].start, 1'000 * kUs);
}

TEST_F(PanelAreaTest, AMarkGetsTheTextThatIsTyped) {
  Load();
  MoveTo(Place("rank 0 on node-a", 2'020 * kUs));
  Frame({{Key::kM, {.shift = true}}});
  Frame();
  Frame();
  const TimeNs span = timeline().view().span_ns();
  Type("warm-up");
  Frame({Key::kW});
  EXPECT_EQ(timeline().view().span_ns(), span);
  ASSERT_EQ(marks().size(), 1U);
  EXPECT_EQ(marks()[0].text, "warm-up");
}

TEST_F(PanelAreaTest, DetailsAreCopied) {
  Load();
  Click(Place("stream 7", 1'025 * kUs));
  Click("details: copy");
  const std::string copied = ImGui::GetClipboardText();
  EXPECT_NE(copied.find("kernel: void ns::sgemm_kernel<float>(float*)\n"), std::string::npos)
      << copied;
  EXPECT_NE(copied.find("duration: 50.00 us\n"), std::string::npos) << copied;
}

TEST_F(PanelAreaTest, AMeasuredRangeHasItsLengthCountAndBusyShare) {
  Load();
  Drag(Place("stream 7", 1'000 * kUs), Place("stream 7", 1'150 * kUs));
  EXPECT_EQ(panels().tab(), PanelTab::kDetails);
  Click("details: copy");
  const std::string copied = ImGui::GetClipboardText();
  for (const char* line :
       {"measured: 150.0 us\n", "row: stream 7\n", "events starting: 2\n", "busy: 66.67 %\n"}) {
    EXPECT_NE(copied.find(line), std::string::npos) << line << copied;
  }
}

TEST_F(PanelAreaTest, StatisticsAreOfTheVisibleTime) {
  Load();
  Click("tab: Statistics");
  std::vector<NameStatistics> names = panels().statistics().names();
  ASSERT_EQ(names.size(), 4U);
  EXPECT_EQ(names[1].name, "ns::sgemm_kernel");
  EXPECT_EQ(names[1].count, 10U);
  EXPECT_EQ(names[1].total_ns, 500 * kUs);
  // The first two kernels alone: the run begins at 900 us, kernels come every 100 us from 1 ms on.
  Load(90 * kUs, 240 * kUs);
  Click("tab: Statistics");
  names = panels().statistics().names();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0].count, 1U);
}

TEST_F(PanelAreaTest, StatisticsAreOfTheMeasuredRow) {
  Load();
  Click("tab: Statistics");
  Drag(Place("stream 13", 950 * kUs), Place("stream 13", 2'050 * kUs));
  const std::vector<NameStatistics>& names = panels().statistics().names();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0].max_ns, 400 * kUs);
}

TEST_F(PanelAreaTest, StatisticsSortByTheColumnClicked) {
  Load();
  Click("tab: Statistics");
  Click("statistics by count");
  const std::vector<NameStatistics>& names = panels().statistics().names();
  EXPECT_GE(names.front().count, names.back().count);
  Click("statistics by count");
  EXPECT_LT(names.front().count, names.back().count);
  Click("statistics by name");
  EXPECT_EQ(names.front().name, "host to device");
}

TEST_F(PanelAreaTest, AnotherKindOfRowsCanBeChosen) {
  Load();
  Click("tab: Statistics");
  Click("statistics: rows");
  Click("statistics rows: all NVTX ranges");
  const std::vector<NameStatistics>& names = panels().statistics().names();
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].name, "step");
}

TEST_F(PanelAreaTest, AClickOnANameFindsItsEvents) {
  Load();
  Click("tab: Statistics");
  Click("statistics row 0");
  EXPECT_EQ(panels().tab(), PanelTab::kFind);
  ASSERT_NE(panels().find().result(), nullptr);
  EXPECT_EQ(panels().find().result()->count, 10U);
  EXPECT_TRUE(panels().find().result()->query.whole);
}

class FindPanelTest : public PanelAreaTest {
 protected:
  void LookFor(const std::string& text) {
    Load();
    Click("tab: Find");
    Click("find: text");
    Type(text);
  }
  const FindResult& result() const { return *panels().find().result(); }
  TimeNs SelectedStart() const {
    return EventTimes(timeline().run(), timeline().model(), *timeline().selection()).first;
  }
};

TEST_F(FindPanelTest, FindsWhileTyping) {
  LookFor("SGEMM");
  ASSERT_NE(panels().find().result(), nullptr);
  EXPECT_EQ(result().count, 10U);
  Type("x");
  EXPECT_EQ(result().count, 0U);
}

TEST_F(FindPanelTest, KeysAreTextWhileTyping) {
  LookFor("s");
  const TimeNs span = timeline().view().span_ns();
  Frame({Key::kW, Key::kS, Key::kS});
  EXPECT_EQ(timeline().view().span_ns(), span);
}

TEST_F(FindPanelTest, EnterStepsForwardsAndWithShiftBackwards) {
  LookFor("sgemm");
  PressEnter();
  ASSERT_TRUE(timeline().selection().has_value());
  EXPECT_EQ(SelectedStart(), 1'000 * kUs);
  PressEnter();
  EXPECT_EQ(SelectedStart(), 1'200 * kUs);
  PressEnter(true);
  EXPECT_EQ(SelectedStart(), 1'000 * kUs);
  PressEnter(true);
  EXPECT_EQ(SelectedStart(), 2'800 * kUs) << "around to the last";
  Click("find: next");
  EXPECT_EQ(SelectedStart(), 1'000 * kUs);
  Click("find: previous");
  EXPECT_EQ(SelectedStart(), 2'800 * kUs);
  EXPECT_EQ(panels().tab(), PanelTab::kFind);
}

TEST_F(FindPanelTest, AClickOnAHitSelectsIt) {
  LookFor("layer");
  Click("find hit 2");
  ASSERT_TRUE(timeline().selection().has_value());
  EXPECT_EQ(*timeline().selection(), result().hits[2]);
}

TEST_F(FindPanelTest, ADragOverTheLengthsFilters) {
  LookFor("e");  // kernels, a copy, ranges: of many lengths
  const std::size_t all = result().count;
  const Box bars = *ui_.controls().Find("find: histogram");
  const float middle = (bars.top + bars.bottom) / 2;
  Drag({(bars.left + bars.right) / 2, middle}, {bars.right - 1, middle});
  EXPECT_LT(result().count, all);
  EXPECT_GT(result().query.shortest_ns, 0);
  for (const EventRef& hit : result().hits) {
    const auto [start, end] = EventTimes(timeline().run(), timeline().model(), hit);
    EXPECT_GE(end - start, result().query.shortest_ns);
  }
  Click("find: any length");
  EXPECT_EQ(result().count, all);
}

TEST_F(FindPanelTest, RowsCanBeNarrowed) {
  LookFor("e");
  const std::size_t all = result().count;
  Click("find: rows");
  Click("find rows: NVTX ranges");
  EXPECT_LT(result().count, all);
  for (const EventRef& hit : result().hits) {
    EXPECT_EQ(timeline().model().rows[hit.row].kind, RowKind::kNvtx);
  }
}

TEST_F(FindPanelTest, OneRowCanBeSearchedAlone) {
  LookFor("e");
  Click(Place("stream 13", 1'700 * kUs));
  ASSERT_TRUE(timeline().selection().has_value());
  Click("find: rows");
  Click("find rows: selected");
  EXPECT_EQ(result().count, 2U);  // the copy and the collective
  for (const EventRef& hit : result().hits) EXPECT_EQ(hit.row, timeline().selection()->row);
}

TEST_F(FindPanelTest, HitsAreMarkedInTheOverview) {
  LookFor("sgemm");
  EXPECT_EQ(std::count(panels().find().marks().begin(), panels().find().marks().end(), true), 10);
}

// Names as long and broken as a program can make them are shown, listed and copied.
TEST_F(FindPanelTest, HostileNamesAreShownSafely) {
  const std::string name = "bad \x1b[2J\xff\n%s%n" + std::string(10'000, 'x');
  RankBuilder builder;
  builder.AddRange({1'000, 9'000, name});
  builder.AddKernel(2'000, 8'000, name, builder.AddApi(1'500, 1'600, "cudaLaunchKernel"));
  builder.rank().end = 10'000;
  builder.rank().path = name;
  auto loaded = std::make_unique<LoadedRun>();
  loaded->run.ranks = {builder.rank()};
  loaded->run.notes = {name};
  loaded->rows = BuildRows(loaded->run);
  Load(std::move(loaded), std::nullopt, std::nullopt);
  Click(Place("stream 7", 5'000));
  ASSERT_TRUE(timeline().selection().has_value());
  Click("details: copy");
  const std::string copied = ImGui::GetClipboardText();
  EXPECT_EQ(copied.find('\x1b'), std::string::npos);
  EXPECT_NE(copied.find("bad  [2J\xEF\xBF\xBD %s%n"), std::string::npos);
  Click("tab: Statistics");
  Click("statistics row 0");
  ASSERT_NE(panels().find().result(), nullptr);
  EXPECT_EQ(result().count, 1U);
  Click("find hit 0");
  EXPECT_EQ(panels().tab(), PanelTab::kFind);
}

class OverviewStripTest : public PanelAreaTest {};

TEST_F(OverviewStripTest, AClickCentersAndADragMoves) {
  Load(100 * kUs, 300 * kUs);
  const Box strip = *ui_.controls().Find("overview");
  const TimeNs span = timeline().view().span_ns();
  const float middle = (strip.top + strip.bottom) / 2;
  Click(MousePlace{strip.right - 200, middle});
  EXPECT_EQ(timeline().view().span_ns(), span);
  const TimeNs clicked = timeline().view().start_ns();
  EXPECT_GT(clicked, 1'500 * kUs);
  Drag({strip.right - 200, middle}, {strip.right - 300, middle});
  EXPECT_LT(timeline().view().start_ns(), clicked);
  EXPECT_EQ(timeline().view().span_ns(), span);
  Frame({Key::kBackspace});
  EXPECT_EQ(timeline().view().start_ns(), clicked) << "back to before the drag";
}

}  // namespace
}  // namespace traceinject
