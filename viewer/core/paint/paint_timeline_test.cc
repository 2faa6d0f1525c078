// SPDX-License-Identifier: Apache-2.0
// What is drawn of a run, by looking at a record of the drawing.
#include "viewer/core/paint/paint_timeline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/model/testing/kernel_names.h"
#include "analyzer/model/testing/rank_builder.h"
#include "analyzer/model/testing/units.h"
#include "analyzer/view/run/device_findings.h"
#include "viewer/core/testing/recording_canvas.h"

namespace traceinject {
namespace {

constexpr float kHeight = 600;
const float kLabel = Sizes().label, kWidth = kLabel + 1000;

// A run as the builder has it, on a timeline of 1000 pixels.
class PaintTest : public testing::Test {
 protected:
  void Build() {
    run_.ranks.push_back(builder_.rank());
    model_ = BuildRows(run_);
    timeline_.emplace(run_, model_);
    timeline_->Resize(kWidth, kHeight);
  }
  std::uint32_t RowOf(RowKind kind) const {
    for (std::uint32_t row = 0; row < model_.rows.size(); ++row) {
      if (model_.rows[row].kind == kind) return row;
    }
    ADD_FAILURE() << "no such row";
    return 0;
  }
  RecordingCanvas Paint() {
    RecordingCanvas canvas;
    painted_ = PaintTimeline(*timeline_, canvas);
    EXPECT_EQ(canvas.clips_open, 0);
    return canvas;
  }
  // Of the plot's part of a row.
  Box RowBox(std::uint32_t row) const {
    const float top = timeline_->RowTop(row);
    return {kLabel, top, kWidth,
            top + timeline_->layout().bottom_px(row) - timeline_->layout().top_px(row)};
  }
  float X(TimeNs time) const { return kLabel + timeline_->view().X(time); }
  void Click(float x, float y) {
    timeline_->MovePointer(x, y);
    timeline_->Press(PointerButton::kLeft, false);
    timeline_->Release(PointerButton::kLeft);
  }

  RankBuilder builder_;
  traceinject::Run run_;
  RowModel model_;
  std::optional<Timeline> timeline_;
  Painted painted_;
};

TEST_F(PaintTest, KernelsThatOverlapOnOneStreamAreAllThereAndCanAllBeClicked) {
  constexpr TimeNs kCount = 12;
  for (TimeNs i = 0; i < kCount; ++i) builder_.AddKernel(i * 10 * kUs, (300 + i * 10) * kUs, kGemm);
  Build();
  const std::uint32_t stream = RowOf(RowKind::kStream);
  ASSERT_EQ(model_.rows[stream].lanes.size(), 12U);
  const RecordingCanvas canvas = Paint();
  const auto boxes = canvas.WithColor(FillColor(InkOf(KernelClass::kGemm)), RowBox(stream));
  ASSERT_EQ(boxes.size(), 12U);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      EXPECT_TRUE(boxes[i].box.bottom <= boxes[j].box.top ||
                  boxes[j].box.bottom <= boxes[i].box.top)
          << "one hides the other";
    }
    Click((boxes[i].box.left + boxes[i].box.right) / 2, boxes[i].box.top + 1);
    ASSERT_TRUE(timeline_->selection().has_value());
    EXPECT_EQ(timeline_->selection()->lane, i);
  }
}

TEST_F(PaintTest, AStallOfAPixelIsSeenInTheWholeRun) {
  // 10 s of kernels of 95 us every 100 us, but for one stall of 10 ms, a pixel.
  constexpr TimeNs kCount = 100'000, kStallAt = 61'800, kStall = 100;
  for (TimeNs i = 0; i < kCount; ++i) {
    if (i >= kStallAt && i < kStallAt + kStall) continue;
    builder_.AddKernel(i * 100 * kUs, (i * 100 + 95) * kUs, kGemm);
  }
  Build();
  const RecordingCanvas canvas = Paint();
  for (const RowKind kind : {RowKind::kDevice, RowKind::kStream}) {
    const std::uint32_t row = RowOf(kind);
    const Box box = RowBox(row);
    const Rgba color = kind == RowKind::kDevice ? FillColor(Category::kCompute)
                                                : FillColor(InkOf(KernelClass::kGemm));
    float usual = 0, lowest = box.height();
    float notch = 0;
    for (const auto& shape : canvas.WithColor(color, box)) {
      const bool edge = shape.box.right <= X(0) + 3 || shape.box.left >= X(kCount * 100 * kUs) - 3;
      if (edge) continue;
      usual = std::max(usual, shape.box.height());
      if (shape.box.height() < lowest) {
        lowest = shape.box.height();
        notch = shape.box.left;
      }
    }
    EXPECT_LE(lowest, 0.75F * usual) << "row " << row;
    EXPECT_NEAR(notch, X(kStallAt * 100 * kUs), 2) << "row " << row;
  }
  // And the row of idle time has its highest column there.
  const std::uint32_t idle = RowOf(RowKind::kIdle);
  float highest = 0, at = 0;
  for (const auto& shape : canvas.WithColor(FillColor(InkOf(IdleCause::kUnknown)), RowBox(idle))) {
    if (shape.box.height() <= highest) continue;
    highest = shape.box.height();
    at = shape.box.left;
  }
  EXPECT_NEAR(at, X(kStallAt * 100 * kUs), 2);
}

TEST_F(PaintTest, EventsWithoutLengthAreSeen) {
  builder_.AddKernel(0, 10 * kMs, kGemm);
  builder_.AddRange({.start = 4 * kMs, .end = 4 * kMs, .text = "mark", .kind = NvtxKind::kMark});
  Build();
  const std::uint32_t nvtx = RowOf(RowKind::kNvtx);
  for (int zoom = 0; zoom < 40; ++zoom) {
    const auto marks = Paint().WithColor(FillColor(NvtxInk("mark")), RowBox(nvtx));
    ASSERT_EQ(marks.size(), 1U) << "zoom " << zoom;
    EXPECT_GE(marks[0].box.width(), 1);
    EXPECT_GE(marks[0].box.height(), 2);
    timeline_->MovePointer(X(4 * kMs), RowBox(nvtx).top + 3);
    timeline_->Do(CommandId::kZoomIn);
  }
}

TEST_F(PaintTest, TextNeverLeavesItsBoxAtAnyWidth) {
  builder_.rank().process.host = std::string(3'000, 'h');
  builder_.rank().process.command_line = "python \xff\xfe\n\x1b[31m" + std::string(10'000, 'x');
  builder_.rank().threads[0].name = std::string(500, 't');
  builder_.AddKernel(0, kMs, "void " + std::string(10'000, 'k') + "<\xc3>(int)");
  builder_.AddRange(
      {.start = 0, .end = kMs, .text = "Schritt \xc3\xa4\xc3\xb6\xc3\xbc\n\x01 \xff"});
  Build();
  for (const float width : {340.0F, 420.0F, 640.0F, 1300.0F, 2500.0F}) {
    timeline_->Resize(width, kHeight);
    const RecordingCanvas canvas = Paint();
    std::size_t texts = 0;
    for (const auto& shape : canvas.shapes) texts += shape.text.empty() ? 0 : 1;
    EXPECT_GT(texts, 8U);
    std::size_t at = 0;
    for (const auto& shape : canvas.shapes) {
      if (shape.text.empty()) continue;
      while (canvas.clipped[at].text != shape.text) ++at;
      EXPECT_LE(shape.box.right, canvas.clipped[at].box.right + 0.5F) << width << shape.text;
      for (const char c : shape.text) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << shape.text;
      const auto last = static_cast<unsigned char>(shape.text.back());
      EXPECT_LT(last, 0xc0) << "ends in the middle of a character: " << shape.text;
    }
  }
}

TEST_F(PaintTest, AFrameHasFewClips) {
  for (TimeNs i = 0; i < 400; ++i) {
    builder_.AddKernel(i * kMs, i * kMs + kMs / 2, kGemm,
                       builder_.AddApi(i * kMs - 10, i * kMs, "cudaLaunchKernel"));
  }
  Build();
  EXPECT_LE(Paint().clips, 3) << "a clip is a draw command";
  timeline_->ChangeRows([this](RowList& list) { list.TogglePinned(RowOf(RowKind::kIdle)); });
  EXPECT_LE(Paint().clips, 5);
}

TEST_F(PaintTest, AFigureIsAnAreaThatKeepsItsPeaks) {
  // One launch at a time, and once forty at once, for 20 us in 100 ms.
  TimeNs now = 0;
  for (int i = 0; i < 1'000; ++i, now += 100 * kUs) {
    const int burst = i == 700 ? 40 : 1;
    for (int k = 0; k < burst; ++k) {
      const std::uint32_t call =
          builder_.AddApi(now + k * 100, now + k * 100 + 50, "cudaLaunchKernel");
      builder_.AddKernel(now + 20 * kUs + k * 200, now + 20 * kUs + k * 200 + 100, kGemm, call);
    }
  }
  Build();
  const std::uint32_t queue = RowOf(RowKind::kQueueDepth);
  const RecordingCanvas canvas = Paint();
  const Box box = RowBox(queue);
  const Theme& theme = DarkTheme();
  float highest = box.bottom, at = 0;
  for (const Rgba color : {theme.counter, WithAlpha(theme.counter, 110)}) {
    for (const auto& shape : canvas.WithColor(color, box)) {
      if (shape.box.top >= highest) continue;
      highest = shape.box.top;
      at = shape.box.left;
    }
  }
  EXPECT_LT(highest, box.top + 5) << "the peak reaches the top of its row";
  EXPECT_NEAR(at, X(70 * kMs), 2);
  EXPECT_TRUE(canvas.HasText("max 40"));
  timeline_->MovePointer(X(70 * kMs + 19 * kUs), box.top + 10);
  timeline_->Do(CommandId::kZoomIn);
  EXPECT_GE(Paint().shapes.size(), 10U);
}

TEST_F(PaintTest, TheValueOfAFigureStandsAtThePointer) {
  const std::uint32_t call = builder_.AddApi(0, 10, "cudaGraphLaunch");
  for (TimeNs i = 0; i < 3; ++i) builder_.AddKernel((i + 1) * kMs, (i + 1) * kMs + 10, kGemm, call);
  Build();
  const Box box = RowBox(RowOf(RowKind::kQueueDepth));
  timeline_->MovePointer(X(kMs / 2), box.top + 5);
  EXPECT_TRUE(Paint().HasText("3"));
  timeline_->MovePointer(X(2 * kMs + kMs / 2), box.top + 5);
  EXPECT_TRUE(Paint().HasText("1"));
}

TEST_F(PaintTest, IdleTimeHasTheColorOfItsCause) {
  builder_.AddKernel(0, kMs, kGemm, builder_.AddApi(-20, -10, "cudaLaunchKernel"));
  builder_.AddDataWait(kMs, 9 * kMs);
  builder_.AddKernel(10 * kMs, 11 * kMs, kGemm,
                     builder_.AddApi(10 * kMs - 10, 10 * kMs, "cudaLaunchKernel"));
  Build();
  const RecordingCanvas canvas = Paint();
  const auto waits =
      canvas.WithColor(FillColor(InkOf(IdleCause::kDataWait)), RowBox(RowOf(RowKind::kIdle)));
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_NEAR(waits[0].box.left, X(kMs), 2);
  EXPECT_NEAR(waits[0].box.right, X(9 * kMs), 2);
  EXPECT_TRUE(canvas.HasText("data wait"));
  EXPECT_TRUE(painted_.inks.test(static_cast<std::size_t>(InkOf(IdleCause::kDataWait))));
  EXPECT_FALSE(painted_.inks.test(static_cast<std::size_t>(InkOf(IdleCause::kGc))));
}

TEST_F(PaintTest, TheRowOfStepsSaysHowManyAreShown) {
  for (TimeNs i = 0; i < 10; ++i) {
    const std::uint32_t call = builder_.AddApi(i * 10 * kMs, i * 10 * kMs + 10, "cudaLaunchKernel");
    builder_.AddKernel(i * 10 * kMs + kMs, i * 10 * kMs + 9 * kMs, kGemm, call);
    builder_.AddStepMark(i * 10 * kMs + 20);
  }
  Build();
  const Lane& steps = model_.rows[RowOf(RowKind::kSteps)].lanes[0];
  ASSERT_GE(steps.size(), 6U);
  timeline_->Show(steps.start(2) + 3 * kMs, steps.start(4) + 3 * kMs);
  const RecordingCanvas canvas = Paint();
  EXPECT_TRUE(canvas.HasText("3")) << "two of them only in part";
  EXPECT_TRUE(canvas.HasText("step 4"));
}

TEST_F(PaintTest, ACollapsedGroupShowsTheDensityOfItsRows) {
  for (TimeNs i = 0; i < 50; ++i) builder_.AddKernel(i * kMs, i * kMs + kMs / 2, kGemm);
  Build();
  const std::uint32_t rank = RowOf(RowKind::kRank);
  timeline_->ChangeRows([rank](RowList& list) { list.ToggleCollapsed(rank); });
  const RecordingCanvas canvas = Paint();
  float painted = 0;
  for (const auto& shape : canvas.WithColor(FillColor(Category::kCompute), RowBox(rank))) {
    painted += shape.box.width();
  }
  EXPECT_GT(painted, 400) << "half of nearly 1000 pixels";
  const Box box = RowBox(rank);
  timeline_->MovePointer(X(10 * kMs + kMs / 4), (box.top + box.bottom) / 2);
  ASSERT_TRUE(timeline_->hover().has_value());
  EXPECT_EQ(timeline_->hover()->row, RowOf(RowKind::kDevice));
}

TEST_F(PaintTest, PinnedRowsStayWhileTheOthersScrollBelowThem) {
  for (TimeNs i = 0; i < 40; ++i) builder_.AddKernel(0, 10 * kMs + i, kGemm);
  builder_.AddApi(0, kMs, "cudaLaunchKernel");
  Build();
  timeline_->Resize(kWidth, 200);
  const std::uint32_t gpu = RowOf(RowKind::kDevice), calls = RowOf(RowKind::kCalls);
  timeline_->ChangeRows([gpu](RowList& list) { list.TogglePinned(gpu); });
  timeline_->MovePointer(kWidth / 2, 150);
  for (int i = 0; i < 50; ++i) timeline_->Turn({-1, false, false});
  EXPECT_EQ(timeline_->RowTop(gpu), Sizes().ruler);
  EXPECT_NEAR(RowBox(calls).bottom, 200, 0.5);
  const auto hit = timeline_->EventAt(X(5 * kMs), RowBox(gpu).top + 10);
  ASSERT_TRUE(hit.has_value());
  EXPECT_EQ(hit->row, gpu);
  EXPECT_TRUE(Paint().HasText("process 0")) << "whose GPU it is";
  EXPECT_EQ(timeline_->RowAt(RowBox(calls).top + 5), calls);
}

TEST_F(PaintTest, ATriangleFoldsItsGroupAndAClickBesideItDoesNot) {
  builder_.AddKernel(0, kMs, kGemm);
  Build();
  const std::uint32_t gpu = RowOf(RowKind::kDevice), stream = RowOf(RowKind::kStream);
  const Box triangle = timeline_->Triangle(gpu);
  Click(triangle.right + 30, triangle.top + 5);
  EXPECT_TRUE(timeline_->layout().Shows(stream));
  Click(triangle.left + 3, triangle.top + 5);
  EXPECT_FALSE(timeline_->layout().Shows(stream));
  Click(triangle.left + 3, triangle.top + 5);
  EXPECT_TRUE(timeline_->layout().Shows(stream));
  Click(150, timeline_->RowTop(RowOf(RowKind::kRank)) + 5);
  EXPECT_FALSE(timeline_->layout().Shows(gpu)) << "a heading is folded wherever it is clicked";
}

TEST_F(PaintTest, RowCommandsAreForTheRowUnderThePointer) {
  builder_.AddKernel(0, kMs, kGemm);
  builder_.AddApi(0, kMs, "cudaLaunchKernel");
  Build();
  const std::uint32_t stream = RowOf(RowKind::kStream), idle = RowOf(RowKind::kDevice);
  const auto point = [&](std::uint32_t row) {
    timeline_->MovePointer(100, timeline_->RowTop(row) + 5);
  };
  point(stream);
  timeline_->Do(CommandId::kCollapse);
  EXPECT_TRUE(timeline_->row_list().IsCollapsed(idle)) << "the group that it is in";
  timeline_->Do(CommandId::kResetRows);
  point(stream);
  timeline_->Do(CommandId::kPinRow);
  EXPECT_TRUE(timeline_->row_list().IsPinned(stream));
  point(stream);
  timeline_->Do(CommandId::kHideRow);
  EXPECT_FALSE(timeline_->layout().Shows(stream));
  timeline_->PointerLeft();
  const RowChoices before = timeline_->row_list().choices();
  for (const CommandId command : {CommandId::kCollapse, CommandId::kPinRow, CommandId::kHideRow,
                                  CommandId::kMoveRowUp, CommandId::kMoveRowDown}) {
    timeline_->Do(command);
  }
  EXPECT_EQ(timeline_->row_list().choices(), before) << "no row, no change";
  timeline_->Do(CommandId::kResetRows);
  const std::uint32_t host = RowOf(RowKind::kHost);
  point(host);
  timeline_->Do(CommandId::kMoveRowUp);
  EXPECT_LT(timeline_->RowTop(host), timeline_->RowTop(RowOf(RowKind::kDevice)));
  point(host);
  timeline_->Do(CommandId::kMoveRowDown);
  EXPECT_GT(timeline_->RowTop(host), timeline_->RowTop(RowOf(RowKind::kDevice)));
}

TEST_F(PaintTest, WhatIsRevealedIsUnfoldedFirst) {
  builder_.AddKernel(0, kMs, kGemm);
  Build();
  const std::uint32_t stream = RowOf(RowKind::kStream);
  timeline_->ChangeRows([](RowList& list) { list.ToggleCollapsed(0); });
  timeline_->Reveal({stream, 0, 0});
  EXPECT_TRUE(timeline_->layout().Shows(stream));
  EXPECT_EQ(Paint().outlines.size(), 1U);
}

TEST_F(PaintTest, ThemesColorEverythingButTheEvents) {
  builder_.AddKernel(0, kMs, kGemm);
  Build();
  const Box panel = timeline_->Panel(), stream = RowBox(RowOf(RowKind::kStream));
  EXPECT_FALSE(Paint().WithColor(DarkTheme().background, panel).empty());
  timeline_->Do(CommandId::kTheme);
  const RecordingCanvas light = Paint();
  EXPECT_FALSE(light.WithColor(LightTheme().background, panel).empty());
  EXPECT_TRUE(light.WithColor(DarkTheme().background, panel).empty());
  EXPECT_FALSE(light.WithColor(FillColor(InkOf(KernelClass::kGemm)), stream).empty());
  timeline_->Do(CommandId::kTheme);
  EXPECT_EQ(timeline_->look().theme, ThemeId::kDark);
}

TEST_F(PaintTest, OperationsAreColoredByClassNameOrStream) {
  builder_.AddKernel(0, kMs, "ampere_sgemm_128x64_nn");
  builder_.AddKernel(2 * kMs, 3 * kMs, "volta_sgemm_64x64_nn");
  Build();
  const Box stream = RowBox(RowOf(RowKind::kStream));
  const auto count = [&](Rgba color) { return Paint().WithColor(color, stream).size(); };
  EXPECT_EQ(count(FillColor(InkOf(KernelClass::kGemm))), 2U);
  EXPECT_FALSE(painted_.by_hue);
  timeline_->Do(CommandId::kColors);
  const Rgba first = HueColor(model_.kernel_hues[0][0]),
             second = HueColor(model_.kernel_hues[0][1]);
  ASSERT_NE(first, second);
  EXPECT_EQ(count(first), 1U);
  EXPECT_EQ(count(second), 1U);
  EXPECT_TRUE(painted_.by_hue);
  timeline_->Do(CommandId::kColors);
  EXPECT_EQ(count(HueColor(0)), 2U);
  timeline_->Do(CommandId::kColors);
  EXPECT_EQ(timeline_->look().colors, ColorMode::kClass);
}

TEST_F(PaintTest, ATimelineWithoutRowsSaysWhatToDo) {
  builder_.AddKernel(0, kMs, kGemm);
  Build();
  timeline_->ChangeRows([](RowList& list) { list.SetFilter("xyz"); });
  EXPECT_TRUE(Paint().HasText("No row has \"xyz\" in its name. Clear the filter to see all rows."));
  timeline_->Do(CommandId::kResetRows);
  timeline_->ChangeRows([this](RowList& list) { list.Hide(RowOf(RowKind::kDevice)); });
  EXPECT_TRUE(Paint().HasText("all its rows are hidden: right-click, Reset rows"));
}

// At twice the scale and on twice the pixels.
class ScaledPaintTest : public PaintTest {
 protected:
  static constexpr float kScale = 2;
  static constexpr int kKernels = 3;  // so few that the name has room in each

  void BuildBoth() {
    for (int i = 0; i < kKernels; ++i) {
      builder_.AddKernel(i * kMs, i * kMs + 600 * kUs, kGemm);
    }
    builder_.rank().end = kKernels * kMs;
    Build();
    large_.emplace(run_, model_);
    large_->Resize(kScale * kWidth, kScale * kHeight, Sizes(kScale * Sizes::kFontPx));
  }
  RecordingCanvas PaintLarge() const {
    RecordingCanvas canvas(kScale * Sizes::kFontPx);
    PaintTimeline(*large_, canvas);
    return canvas;
  }
  static std::vector<RecordingCanvas::Shape> Texts(const RecordingCanvas& canvas) {
    std::vector<RecordingCanvas::Shape> texts;
    for (const auto& shape : canvas.shapes) {
      if (!shape.text.empty()) texts.push_back(shape);
    }
    return texts;
  }
  void ExpectTwice(const Box& large, const Box& small, const std::string& what) const {
    EXPECT_NEAR(large.left, kScale * small.left, kScale + 1) << what;
    EXPECT_NEAR(large.top, kScale * small.top, kScale + 1) << what;
    EXPECT_NEAR(large.right, kScale * small.right, kScale + 1) << what;
    EXPECT_NEAR(large.bottom, kScale * small.bottom, kScale + 1) << what;
  }

  std::optional<Timeline> large_;
};

TEST_F(ScaledPaintTest, RowsAndTextsAreTwiceAsLarge) {
  BuildBoth();
  EXPECT_EQ(large_->Plot().left, kScale * timeline_->Plot().left);
  EXPECT_EQ(large_->Plot().top, kScale * timeline_->Plot().top);
  EXPECT_EQ(large_->layout().height_px(), kScale * timeline_->layout().height_px());
  for (std::uint32_t row = 0; row < model_.rows.size(); ++row) {
    EXPECT_EQ(large_->RowTop(row), kScale * timeline_->RowTop(row)) << model_.rows[row].label;
    ExpectTwice(large_->Triangle(row), timeline_->Triangle(row), "triangle");
  }
  const auto small = Texts(Paint()), large = Texts(PaintLarge());
  ASSERT_EQ(large.size(), small.size());
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_EQ(large[i].text, small[i].text);
    ExpectTwice(large[i].box, small[i].box, small[i].text);
  }
}

TEST_F(ScaledPaintTest, WhatIsDrawnCanBeHit) {
  BuildBoth();
  const Rgba color = FillColor(InkOf(KernelClass::kGemm));
  const Box all{0, 0, kScale * kWidth, kScale * kHeight};
  const auto small = Paint().WithColor(color, all), large = PaintLarge().WithColor(color, all);
  ASSERT_EQ(small.size(), kKernels);
  ASSERT_EQ(large.size(), kKernels);
  for (std::size_t i = 0; i < large.size(); ++i) {
    const Box& box = large[i].box;
    ExpectTwice(box, small[i].box, "kernel");
    const auto event = large_->EventAt((box.left + box.right) / 2, box.bottom - 1);
    ASSERT_TRUE(event.has_value());
    ExpectTwice(large_->EventBox(*event), small[i].box, "its box");
    const float beside = box.left - 2.5F * kScale;
    EXPECT_EQ(large_->EventAt(beside, box.top + 1), event) << "a little beside it";
    EXPECT_FALSE(large_->EventAt(box.left - 4 * kScale, box.top + 1).has_value());
  }
}

TEST_F(ScaledPaintTest, ATriangleFoldsItsGroupWhereItIsDrawn) {
  BuildBoth();
  const std::uint32_t gpu = RowOf(RowKind::kDevice);
  const Box triangle = large_->Triangle(gpu);
  large_->MovePointer(triangle.right - 1, (triangle.top + triangle.bottom) / 2);
  large_->Press(PointerButton::kLeft, false);
  EXPECT_TRUE(large_->row_list().IsCollapsed(gpu));
}

TEST_F(ScaledPaintTest, LinesStayWholePixelsAtEveryScale) {
  for (const float scale : {0.5F, 0.93F, 1.0F, 1.25F, 1.5F, 2.0F, 3.0F}) {
    const Sizes sizes(std::floor(scale * Sizes::kFontPx));
    for (const float length : {sizes.line, sizes.text_pad, sizes.ruler, sizes.lane, sizes.row_pad,
                               sizes.indent, sizes.label, sizes.least_frame}) {
      EXPECT_EQ(length, std::floor(length)) << scale;
      EXPECT_GE(length, 1) << scale;
    }
    EXPECT_GE(sizes.lane, sizes.font) << "a lane has room for text";
    EXPECT_GE(sizes.ruler, sizes.font) << "and so has the ruler";
  }
}

// Python stacks of a thread.
class PaintCodeTest : public PaintTest {
 protected:
  static constexpr char kLibrary[] = "/usr/lib/python3/dist-packages/torch/nn.py";

  PaintCodeTest() {
    own_ = builder_.AddStack({{"main", "train.py", 10}, {"load", "data.py", 20}});
    library_ = builder_.AddStack({{"main", "train.py", 10}, {"forward", kLibrary, 30}});
    builder_.rank().stacks[library_].caller = builder_.rank().stacks[own_].caller;
  }
  void Open() {
    timeline_->ChangeRows([this](RowList& list) { list.ToggleCollapsed(RowOf(RowKind::kCode)); });
  }
  std::size_t BoxesOf(const RecordingCanvas& canvas, Ink ink, RowKind kind) const {
    return canvas.WithColor(FillColor(ink), RowBox(RowOf(kind))).size();
  }

  std::uint32_t own_ = kNone, library_ = kNone;
};

TEST_F(PaintCodeTest, TheLineStandsForTheFoldedStack) {
  builder_.AddLook(10 * kMs, own_);
  builder_.AddLook(20 * kMs, library_);
  Build();
  EXPECT_FALSE(timeline_->layout().Shows(RowOf(RowKind::kFrames)));
  const RecordingCanvas folded = Paint();
  EXPECT_TRUE(folded.HasText("data.py:20 in load"));
  EXPECT_TRUE(folded.HasText("train.py:10 in main")) << "it called the library";
  EXPECT_FALSE(folded.HasText("torch/nn.py:30 in forward"));
  Open();
  const RecordingCanvas open = Paint();
  EXPECT_TRUE(open.HasText("torch/nn.py:30 in forward"));
  EXPECT_EQ(BoxesOf(open, CodeInk("main", true), RowKind::kFrames), 1U) << "one, of both looks";
  EXPECT_EQ(BoxesOf(open, CodeInk("load", true), RowKind::kFrames), 1U);
  EXPECT_EQ(BoxesOf(open, CodeInk("forward", false), RowKind::kFrames), 1U);
}

TEST_F(PaintCodeTest, NarrowBoxesSayWhatTellsMost) {
  for (int i = 0; i < 10; ++i) builder_.AddLook(i * 10 * kMs, i % 2 == 0 ? own_ : library_);
  Build();
  Open();
  const RecordingCanvas canvas = Paint();
  EXPECT_TRUE(canvas.HasText("data.py:20")) << "of a line where it is";
  EXPECT_TRUE(canvas.HasText("forward")) << "of a frame what it does";
  for (const auto& text : canvas.clipped) {
    EXPECT_LE(text.box.right, kWidth) << text.text;
  }
}

TEST_F(PaintCodeTest, OtherPlacesThanTheMarkedOnesArePaler) {
  builder_.AddLook(10 * kMs, own_);
  builder_.AddLook(20 * kMs, library_);
  Build();
  timeline_->MarkPlaces(MarkedPlaces(run_, {"data.py", "load", 20}));
  const RecordingCanvas canvas = Paint();
  EXPECT_EQ(BoxesOf(canvas, CodeInk("load", true), RowKind::kCode), 1U);
  EXPECT_EQ(BoxesOf(canvas, CodeInk("main", true), RowKind::kCode), 0U);
  timeline_->Do(CommandId::kClear);
  EXPECT_EQ(BoxesOf(Paint(), CodeInk("main", true), RowKind::kCode), 1U);
}

// However many looks there are, a lane has no more boxes than pixels, and a row one clipping.
TEST_F(PaintCodeTest, AMillionLooksAreNoMoreBoxesThanPixels) {
  for (int i = 0; i < 1'000'000; ++i) {
    builder_.AddLook(i * 10 * kMs, i / 3 % 2 == 0 ? own_ : library_);
  }
  Build();
  Open();
  const std::uint32_t frames = RowOf(RowKind::kFrames);
  ASSERT_GT(model_.rows[frames].lanes[1].size(), 300'000U);
  for (const TimeNs span : {10'000'000 * kMs, 1'000'000 * kMs, 10'000 * kMs}) {
    timeline_->Show(0, span);
    const RecordingCanvas canvas = Paint();
    const Box box = RowBox(frames);
    const auto boxes = std::count_if(
        canvas.shapes.begin(), canvas.shapes.end(), [&](const RecordingCanvas::Shape& shape) {
          return shape.text.empty() && shape.box.top >= box.top && shape.box.bottom < box.bottom;
        });
    EXPECT_LE(boxes, static_cast<std::ptrdiff_t>(2 * (kWidth - kLabel)) + 20);
    EXPECT_EQ(canvas.clips, 2) << "the plot and the labels";
  }
}

}  // namespace
}  // namespace traceinject
