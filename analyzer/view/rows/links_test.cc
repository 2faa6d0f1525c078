// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/links.h"

#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/model/testing/units.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/core/paint/paint_links.h"
#include "viewer/core/testing/recording_canvas.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

// A rank of two that calls AllReduce `collectives` times on stream 13, and launches a graph of
// `nodes` kernels on stream 7.
void WriteRank(const std::string& path, int rank, int collectives, std::uint32_t nodes) {
  RunDbFixture file(path, {.rank = rank, .local_rank = rank, .world_size = 2, .end_ns = 100 * kMs});
  file.AddDevice({});
  const auto graph = file.AddApi({.start_ns = 10 * kUs,
                                  .dur_ns = 5 * kUs,
                                  .name = "cudaGraphLaunch",
                                  .api_class = ApiClass::kGraphLaunch});
  for (std::uint32_t node = 1; node <= nodes; ++node) {
    file.AddKernel({.start_ns = node * 20 * kUs,
                    .dur_ns = 10 * kUs,
                    .name = "step",
                    .correlation = graph,
                    .graph_node = node});
  }
  const auto group = file.AddCommunicator({.size = 2, .rank = rank, .device = 0});
  for (int i = 0; i < collectives; ++i) {
    const TimeNs start = 50 * kMs + i * kMs + rank * 30 * kUs;
    file.AddCollective(
        {.start_ns = start, .dur_ns = 50 * kUs, .bytes = 4'096, .communicator = group});
    const auto launch = file.AddApi({.start_ns = start + 5 * kUs, .dur_ns = 5 * kUs});
    file.AddKernel({.start_ns = start + 100 * kUs,
                    .dur_ns = 200 * kUs,
                    .name = kAllReduce,
                    .stream = 13,
                    .correlation = launch});
  }
  file.Close();
}

class LinksTest : public testing::Test {
 protected:
  void Load(int collectives, std::uint32_t nodes) {
    for (int rank = 0; rank < 2; ++rank) {
      WriteRank(folder_ / ("run.rank" + std::to_string(rank) + ".db"), rank, collectives, nodes);
    }
    LoadResult loaded = LoadWithRows({folder_ / "run.db"}, {});
    ASSERT_TRUE(loaded.ok()) << loaded.error();
    loaded_ = std::move(loaded).value();
  }
  const RowModel& model() const { return loaded_->rows; }

  // The n-th event of the row whose label ends so, of a rank.
  EventRef Event(std::uint32_t rank, const std::string& label, std::uint32_t event = 0) const {
    for (std::uint32_t row = 0; row < model().rows.size(); ++row) {
      if (model().rows[row].rank == rank && model().rows[row].label.ends_with(label)) {
        return {row, 0, event};
      }
    }
    ADD_FAILURE() << "no row " << label;
    return {};
  }
  LinkedEvents Of(const EventRef& ref) const { return loaded_->links.Of(ref); }

  TemporaryFolder folder_;
  std::unique_ptr<const LoadedRun> loaded_;
};

TEST_F(LinksTest, AGraphLaunchIsLinkedToAllItsKernels) {
  Load(1, 5);
  const EventRef call = Event(0, "CUDA calls");
  ASSERT_EQ(EventLabel(loaded_->run, model(), call), "cudaGraphLaunch");
  const LinkedEvents linked = Of(call);
  ASSERT_EQ(linked.effects.size(), 5U);
  EXPECT_EQ(linked.effects_left_out, 0U);
  for (std::uint32_t node = 0; node < 5; ++node) {
    const EventRef kernel = Event(0, "stream 7", node);
    EXPECT_EQ(linked.effects[node], kernel);
    EXPECT_EQ(Of(kernel).causes, std::vector{call});
    EXPECT_TRUE(Of(kernel).effects.empty());
  }
  EXPECT_EQ(Of(Event(1, "stream 7", 3)).causes, std::vector{Event(1, "CUDA calls")})
      << "each rank has its own";
}

TEST_F(LinksTest, OfALargeGraphTheFirstAreShownAndTheRestCounted) {
  Load(0, 250);
  const LinkedEvents linked = Of(Event(0, "CUDA calls"));
  EXPECT_EQ(linked.effects.size(), Links::kMaxEffects);
  EXPECT_EQ(linked.effects.back(), Event(0, "stream 7", 99));
  EXPECT_EQ(linked.effects_left_out, 150U);
}

TEST_F(LinksTest, TheSameCollectiveOnAllRanks) {
  Load(3, 1);
  for (std::uint32_t i = 0; i < 3; ++i) {
    const LinkedEvents kernel = Of(Event(0, "stream 13", i));
    EXPECT_EQ(kernel.peers, std::vector{Event(1, "stream 13", i)});
    EXPECT_EQ(kernel.causes,
              (std::vector{Event(0, "CUDA calls", i + 1), Event(0, "NCCL calls", i)}));
    const LinkedEvents call = Of(Event(1, "NCCL calls", i));
    EXPECT_EQ(call.peers, std::vector{Event(0, "NCCL calls", i)});
    EXPECT_EQ(call.effects, std::vector{Event(1, "stream 13", i)});
  }
}

TEST_F(LinksTest, PiecesOfTheGpuRowAreLinkedLikeTheirOperation) {
  Load(1, 2);
  EXPECT_EQ(Of(Event(0, "GPU 0")).causes, std::vector{Event(0, "CUDA calls")});
}

TEST(Links, WithoutARunNothingIsLinked) { EXPECT_TRUE(Links().Of({0, 0, 0}).empty()); }

TEST(Links, WhatHasNoLaunchIsNotLinked) {
  const auto loaded = LoadSampleRun();
  for (std::uint32_t row = 0; row < loaded->rows.rows.size(); ++row) {
    if (loaded->rows.rows[row].kind != RowKind::kNvtx) continue;
    EXPECT_TRUE(loaded->links.Of({row, 0, 0}).empty());
  }
}

class PaintLinksTest : public LinksTest {
 protected:
  void Open(int collectives, std::uint32_t nodes, float height_px) {
    Load(collectives, nodes);
    timeline_.emplace(loaded_->run, model(), &loaded_->links);
    timeline_->Resize(1300, height_px);
  }
  RecordingCanvas Paint() const {
    RecordingCanvas canvas;
    PaintLinks(*timeline_, canvas);
    EXPECT_EQ(canvas.clips_open, 0);
    const Box plot = timeline_->Plot();
    for (const auto& shape : canvas.shapes) {
      EXPECT_LT(shape.box.left, plot.right);
      EXPECT_GE(shape.box.right, plot.left);
    }
    return canvas;
  }
  // Whether a box that is thin and high or wide goes through both points.
  static bool Covers(const RecordingCanvas& canvas, float x, float y) {
    for (const auto& shape : canvas.shapes) {
      if (x >= shape.box.left && x < shape.box.right && y >= shape.box.top &&
          y < shape.box.bottom) {
        return true;
      }
    }
    return false;
  }

  std::optional<Timeline> timeline_;
};

TEST_F(PaintLinksTest, NothingSelectedPaintsNothing) {
  Open(1, 3, 700);
  EXPECT_TRUE(Paint().shapes.empty());
  EXPECT_TRUE(Paint().outlines.empty());
}

TEST_F(PaintLinksTest, HoverFramesThePartners) {
  Open(2, 3, 700);
  const Box kernel = timeline_->EventBox(Event(0, "stream 13", 1));
  timeline_->MovePointer((kernel.left + kernel.right) / 2, (kernel.top + kernel.bottom) / 2);
  ASSERT_TRUE(timeline_->hover().has_value());
  EXPECT_EQ(Paint().outlines.size(), 3U) << "its launch, its call, the other rank's kernel";
  EXPECT_TRUE(Paint().shapes.empty()) << "arrows are for the selection";
  timeline_->PointerLeft();
  EXPECT_TRUE(Paint().outlines.empty());
}

TEST_F(PaintLinksTest, TheSelectionHasAnArrowToEachPartner) {
  Open(0, 4, 700);
  timeline_->Show(0, 120 * kUs);
  timeline_->Select(Event(0, "CUDA calls"));
  const RecordingCanvas canvas = Paint();
  EXPECT_EQ(canvas.outlines.size(), 4U);
  for (std::uint32_t node = 0; node < 4; ++node) {
    const Box kernel = timeline_->EventBox(Event(0, "stream 7", node));
    EXPECT_TRUE(Covers(canvas, kernel.left, std::floor((kernel.top + kernel.bottom) / 2) - 0.5F) ||
                Covers(canvas, kernel.left - 1, std::floor((kernel.top + kernel.bottom) / 2)))
        << "kernel " << node;
  }
}

TEST_F(PaintLinksTest, AnArrowToARowOffTheScreenEndsAtTheEdge) {
  Open(2, 1, 220);  // the rows of rank 1 are far below
  timeline_->Show(40 * kMs, 60 * kMs);
  timeline_->Select(Event(0, "stream 13", 0));
  const Box source = timeline_->EventBox(*timeline_->selection());
  ASSERT_LT(source.bottom, 220);
  ASSERT_GT(timeline_->EventBox(Event(1, "stream 13", 0)).top, 220);
  const RecordingCanvas canvas = Paint();
  EXPECT_TRUE(Covers(canvas, source.left, 219)) << "it goes down to the last pixel";
  for (const auto& shape : canvas.shapes) EXPECT_LE(shape.box.bottom, 220);
}

TEST_F(PaintLinksTest, ArrowsBesideTheViewAreNotDrawn) {
  Open(0, 3, 700);
  timeline_->Select(Event(0, "CUDA calls"));
  timeline_->Show(20 * kMs, 40 * kMs);
  EXPECT_TRUE(Paint().shapes.empty());
}

TEST_F(PaintLinksTest, ArrowsHaveTheColorOfTheTheme) {
  Open(0, 4, 700);
  timeline_->Show(0, 120 * kUs);
  timeline_->Select(Event(0, "CUDA calls"));
  for (const ThemeId id : {ThemeId::kDark, ThemeId::kLight}) {
    timeline_->SetLook({.theme = id});
    const RecordingCanvas canvas = Paint();
    const Rgba arrow = ThemeOf(id).arrow;
    for (const auto& outline : canvas.outlines) EXPECT_EQ(outline.color, arrow);
    for (const auto& shape : canvas.shapes) {
      EXPECT_EQ(WithAlpha(shape.color, 0xff), arrow);
    }
  }
}

TEST_F(PaintLinksTest, TheCapIsStated) {
  Open(0, 1'250, 700);
  timeline_->Select(Event(0, "CUDA calls"));
  EXPECT_TRUE(Paint().HasText("100 of 1,250 launched operations have an arrow"));
}

}  // namespace
}  // namespace traceinject
