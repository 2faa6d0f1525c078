// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/excerpt/excerpt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "analyzer/common/text.h"
#include "analyzer/view/rows/event_text.h"
#include "viewer/core/load/background_load.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {
namespace {

constexpr const char* kRecordings[] = {"slow_loader_h200.db.zst", "slow_numpy_h100.db.zst",
                                       "straggler_gemm_h200", "transport_shm_h200"};

bool AlwaysFits(const Excerpt&) { return true; }

// A recording as traceview shows it, and the excerpt of it.
struct Shown {
  std::unique_ptr<const LoadedRun> loaded;
  JudgedReport found;
  Excerpt excerpt;

  Shown(const std::string& name, std::size_t max_spans) {
    LoadResult read = LoadWithRows({std::string(TRACEINJECT_RECORDINGS) + "/" + name}, {});
    if (!read.ok()) throw std::runtime_error(read.error());
    loaded = std::move(read).value();
    found = BuildJudgedReport(loaded->run, {});
    excerpt = MakeExcerpt(loaded->run, found, max_spans, AlwaysFits);
  }
  std::uint32_t rank() const { return GuiltyRank(loaded->run, found); }
};

// Whose rows are those of all ranks.
TEST(Excerpt, HasTheStepsThatTheViewerShowsFirst) {
  for (const char* name : kRecordings) {
    SCOPED_TRACE(name);
    const Shown shown(name, 4'000);
    const ChosenSteps first = ChooseSteps(shown.loaded->run, shown.loaded->rows, shown.found);
    EXPECT_EQ(first.text, shown.excerpt.chosen.text);
    EXPECT_EQ(first.time.start, shown.excerpt.chosen.time.start);
    EXPECT_EQ(first.time.end, shown.excerpt.chosen.time.end);
    EXPECT_TRUE(first.judged);
  }
}

TEST(Excerpt, HasTheRowsOfTheViewerInItsOrderAndHeights) {
  for (const char* name : kRecordings) {
    const Shown shown(name, 5'000);
    Timeline timeline(shown.loaded->run, shown.loaded->rows, &shown.loaded->links);
    timeline.Resize(1'600, 900);
    timeline.Show(shown.excerpt.chosen.time.start, shown.excerpt.chosen.time.end);
    std::size_t at = 0;
    for (const std::uint32_t index : timeline.row_list().scrolled()) {
      const Row& row = shown.loaded->rows.rows[index];
      if (row.rank != shown.rank()) continue;
      ASSERT_LT(at, shown.excerpt.rows.size()) << name;
      const ExcerptRow& kept = shown.excerpt.rows[at++];
      EXPECT_EQ(kept.label, timeline.row_list().Label(index)) << name;
      EXPECT_EQ(kept.depth, timeline.row_list().depth(index)) << name;
      EXPECT_EQ(kept.lane_px, timeline.layout().lane_px(index)) << name << ' ' << kept.label;
      EXPECT_EQ(kept.lanes.size(), row.lanes.size()) << name << ' ' << kept.label;
    }
    EXPECT_EQ(at, shown.excerpt.rows.size()) << name;
  }
}

// Rows of the same label come in the same order in both.
class RowsByLabel {
 public:
  explicit RowsByLabel(const Shown& shown) : shown_(shown) {
    for (std::uint32_t row = 0; row < shown.loaded->rows.rows.size(); ++row) {
      if (shown.loaded->rows.rows[row].rank == shown.rank())
        rows_[shown.loaded->rows.rows[row].label].push_back(row);
    }
  }
  std::uint32_t Next(const std::string& label) { return rows_[label][next_[label]++]; }

 private:
  const Shown& shown_;
  std::map<std::string, std::vector<std::uint32_t>> rows_;
  std::map<std::string, std::size_t> next_;
};

TEST(Excerpt, EventsHaveTheTimesNamesAndColorsOfTheViewer) {
  for (const char* name : kRecordings) {
    const Shown shown(name, 5'000);
    const RowModel& model = shown.loaded->rows;
    RowsByLabel rows(shown);
    std::size_t compared = 0;
    for (const ExcerptRow& kept : shown.excerpt.rows) {
      if (kept.lanes.empty()) continue;
      const std::uint32_t row = rows.Next(kept.label);
      for (std::uint32_t lane = 0; lane < kept.lanes.size(); ++lane) {
        for (const ExcerptSpan& span : kept.lanes[lane]) {
          const Lane& of = model.rows[row].lanes[lane];
          const EventRef ref{row, lane, span.time.event};
          const ExcerptLook& look = shown.excerpt.looks[span.look];
          EXPECT_EQ(look.name, ShortenMiddle(EventLabel(shown.loaded->run, model, ref), 160));
          const Ink ink = of.ink(ref.event);
          EXPECT_EQ(shown.excerpt.colors[look.color].color,
                    kept.by_category ? FillColor(CategoryOf(ink)) : FillColor(ink));
          if (span.time.merged()) continue;
          EXPECT_EQ(span.time.start, of.start(ref.event));
          EXPECT_EQ(span.time.end, of.end(ref.event));
          ++compared;
        }
      }
    }
    EXPECT_GT(compared, 200u) << name;
  }
}

TEST(Excerpt, TheTimeOfEveryRowIsThatOfTheViewer) {
  const Shown shown("slow_loader_h200.db.zst", 600);
  RowsByLabel rows(shown);
  const Interval time = shown.excerpt.chosen.time;
  std::size_t merged = 0;
  for (const ExcerptRow& kept : shown.excerpt.rows) {
    if (kept.lanes.empty()) continue;
    const Row& row = shown.loaded->rows.rows[rows.Next(kept.label)];
    for (std::size_t lane = 0; lane < kept.lanes.size(); ++lane) {
      TimeNs busy = 0;
      for (const ExcerptSpan& span : kept.lanes[lane]) {
        merged += span.time.merged() ? 1 : 0;
        busy += span.time.merged()
                    ? span.time.busy
                    : std::min(span.time.end, time.end) - std::max(span.time.start, time.start);
      }
      EXPECT_EQ(busy, row.lanes[lane].Busy(time.start, time.end)) << kept.label;
    }
  }
  EXPECT_EQ(merged, shown.excerpt.merged_into);
  EXPECT_GT(merged, 100u);
}

TEST(Excerpt, IsAsFineAsItMayBe) {
  const Shown coarse("slow_loader_h200.db.zst", 600), fine("slow_loader_h200.db.zst", 6'000);
  EXPECT_LE(coarse.excerpt.spans, 600u);
  EXPECT_LE(fine.excerpt.spans, 6'000u);
  EXPECT_GT(fine.excerpt.spans, 4'000u);
  EXPECT_LT(fine.excerpt.cell_ns, coarse.excerpt.cell_ns);
  EXPECT_EQ(fine.excerpt.events, coarse.excerpt.events) << "none is left out";
  const Shown all("slow_loader_h200.db.zst", 1'000'000);
  EXPECT_EQ(all.excerpt.merged, 0u);
  EXPECT_EQ(all.excerpt.spans, all.excerpt.events);
}

TEST(Excerpt, IsMadeCoarserUntilItFits) {
  const Shown shown("slow_loader_h200.db.zst", 1'000'000);
  const Excerpt small = MakeExcerpt(shown.loaded->run, shown.found, 1'000'000,
                                    [](const Excerpt& excerpt) { return excerpt.spans < 2'000; });
  EXPECT_LT(small.spans, 2'000u);
  EXPECT_GT(small.spans, 1'000u);
  EXPECT_EQ(small.events, shown.excerpt.events);
}

TEST(Excerpt, KnowsWhereTheEvidenceIs) {
  const Shown shown("straggler_gemm_h200", 1'000);
  ASSERT_EQ(shown.found.report.verdict().place(), "rank 1");
  EXPECT_EQ(shown.excerpt.rank.substr(0, 6), "rank 1");
  ASSERT_EQ(shown.excerpt.places.size(),
            static_cast<std::size_t>(shown.found.report.verdict().evidence_size()));
  const auto& first = shown.excerpt.places.front();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->time.start - shown.excerpt.origin,
            shown.found.report.verdict().evidence(0).start_ns());
  EXPECT_EQ(shown.excerpt.rows[first->row].label, "GPU 1");
}

TEST(Excerpt, IsEmptyWithoutAnythingJudged) {
  EXPECT_TRUE(MakeExcerpt({}, {}, 100, AlwaysFits).empty());
}

}  // namespace
}  // namespace traceinject
