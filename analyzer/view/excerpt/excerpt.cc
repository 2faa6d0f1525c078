// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/excerpt/excerpt.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"
#include "analyzer/metrics/gpu/device_analysis.h"
#include "analyzer/view/rows/event_text.h"
#include "analyzer/view/rows/evidence_row.h"
#include "analyzer/view/rows/row_layout.h"
#include "analyzer/view/rows/row_list.h"
#include "analyzer/view/style/legend.h"

namespace traceinject {
namespace {

// Letters of a name: one alone must not fill a page.
constexpr std::size_t kMaxName = 160;

std::string NameOf(std::string_view label) { return ShortenMiddle(Printable(label), kMaxName); }

class ExcerptMaker {
 public:
  ExcerptMaker(const Run& run, const JudgedReport& found)
      : run_(run),
        model_(BuildRowsOfRank(run, GuiltyRank(run, found))),
        list_(model_),
        chosen_(ChooseSteps(run, model_, found)) {
    for (const proto::Evidence& evidence : found.report.verdict().evidence()) {
      const std::uint32_t row = RowOfEvidence(run, model_, evidence);
      evidence_rows_.push_back(row);
      evidence_times_.push_back(
          {model_.origin + evidence.start_ns(), model_.origin + evidence.end_ns()});
    }
    list_.SetSight(chosen_.time.start, chosen_.time.end, {});
    const auto shown = list_.scrolled();
    const std::size_t kept = std::min(shown.size(), kMaxExcerptRows);
    rows_.assign(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(kept));
    rows_left_out_ = shown.size() - kept;
  }

  bool empty() const { return chosen_.time.start >= chosen_.time.end; }

  // `least_cell`: what fewer spans would not be merged by, either.
  Excerpt Make(std::size_t max_spans, TimeNs least_cell) const {
    Excerpt excerpt;
    excerpt.cell_ns = FindCell(max_spans, least_cell);
    excerpt.rank = model_.rows.front().label;
    excerpt.chosen = chosen_;
    excerpt.origin = model_.origin;
    excerpt.rows_left_out = rows_left_out_;
    const RowLayout layout(model_, list_, Sizes());
    Looks looks;
    for (const std::uint32_t row : rows_) AddRow(row, layout, looks, excerpt);
    looks.Finish(excerpt);
    for (const RowGap& gap : model_.gaps) {
      if (gap.start < chosen_.time.end && gap.end > chosen_.time.start) excerpt.gaps.push_back(gap);
    }
    AddPlaces(excerpt);
    return excerpt;
  }

 private:
  // The pairs of name and color that occur, and what a legend has to say of the colors.
  class Looks {
   public:
    // `category`: by which the row is colored; kHost: it is by ink.
    std::uint32_t Of(std::string_view label, Ink ink, Category category) {
      const bool by_category = category != Category::kHost;
      if (by_category)
        painted_.categories[static_cast<std::size_t>(category)] = true;
      else
        painted_.inks.set(static_cast<std::size_t>(ink));
      const Key key{std::string(label), by_category ? FillColor(category) : FillColor(ink)};
      const auto [found, is_new] =
          numbers_.emplace(key, static_cast<std::uint32_t>(numbers_.size()));
      if (is_new) ordered_.push_back(&found->first);
      return found->second;
    }
    void Wait() { painted_.waits = true; }

    void Finish(Excerpt& excerpt) const {
      std::map<Rgba, std::uint32_t> colors;
      for (const LegendEntry& entry : LegendOf(painted_, {})) {
        for (const Rgba color : ColorsOf(entry)) {
          colors.emplace(color, static_cast<std::uint32_t>(excerpt.colors.size()));
          excerpt.colors.push_back({color, entry.text});
        }
      }
      for (const Key* key : ordered_) excerpt.looks.push_back({NameOf(key->first), 0});
      for (std::size_t i = 0; i < ordered_.size(); ++i) {
        const auto [found, is_new] =
            colors.emplace(ordered_[i]->second, static_cast<std::uint32_t>(excerpt.colors.size()));
        // Steps and ranges are told apart by their names.
        if (is_new) excerpt.colors.push_back({ordered_[i]->second, ""});
        excerpt.looks[i].color = found->second;
      }
      for (std::size_t i = 0; i < kCategories; ++i)
        excerpt.categories[i] = FillColor(static_cast<Category>(i));
    }

   private:
    using Key = std::pair<std::string, Rgba>;

    // Shades of one meaning are an entry.
    std::vector<Rgba> ColorsOf(const LegendEntry& entry) const {
      std::vector<Rgba> colors = {entry.color};
      for (std::size_t ink = 0; ink < entry.meaning.inks.size(); ++ink) {
        if (!entry.meaning.inks[ink]) continue;
        const Rgba color = FillColor(static_cast<Ink>(ink));
        if (std::find(colors.begin(), colors.end(), color) == colors.end()) colors.push_back(color);
      }
      return colors;
    }

    std::map<Key, std::uint32_t> numbers_;
    std::vector<const Key*> ordered_;
    Painted painted_;
  };

  std::size_t LanesOf(std::uint32_t row) const {
    return std::min(model_.rows[row].lanes.size(), kMaxExcerptLanes);
  }

  std::vector<CounterSpan> CounterOf(std::uint32_t row, TimeNs cell_ns) const {
    std::vector<CounterSpan> spans;
    model_.rows[row].counter->Query(chosen_.time.start, chosen_.time.end,
                                    static_cast<double>(cell_ns), spans);
    return spans;
  }

  std::size_t CountSpans(TimeNs cell_ns) const {
    std::size_t count = 0;
    for (const std::uint32_t row : rows_) {
      for (std::size_t lane = 0; lane < LanesOf(row); ++lane)
        count += ThinLane(model_.rows[row].lanes[lane], chosen_.time, cell_ns).size();
      if (model_.rows[row].counter) count += CounterOf(row, cell_ns).size();
    }
    return count;
  }

  // As fine as so many spans allow, to an eighth: no finer than `least`, and no longer than it
  // takes to merge all that can be. Eightfold steps up, smaller ones down: each looks at every
  // event.
  TimeNs FindCell(std::size_t max_spans, TimeNs least) const {
    const auto fits = [&](TimeNs cell) { return CountSpans(cell) <= max_spans; };
    TimeNs cell = least;
    while (cell <= chosen_.time.end - chosen_.time.start && !fits(cell)) cell *= 8;
    while (cell / 2 > least && fits(cell / 2)) cell /= 2;
    const TimeNs eighth = cell / 8;
    while (eighth > 0 && cell > 5 * eighth && cell - eighth > least && fits(cell - eighth))
      cell -= eighth;
    return cell;
  }

  void AddRow(std::uint32_t index, const RowLayout& layout, Looks& looks, Excerpt& excerpt) const {
    const Row& row = model_.rows[index];
    ExcerptRow& added = excerpt.rows.emplace_back();
    added.label = NameOf(list_.Label(index));
    // What a line for quiet rows says of itself is how to open it.
    if (row.kind != RowKind::kQuiet) added.note = NameOf(row.note);
    added.heading = IsHeading(row.kind);
    added.by_category = row.kind == RowKind::kDevice;
    added.depth = list_.depth(index);
    added.top_px = layout.top_px(index);
    added.lane_top_px = layout.lane_top_px(index, 0);
    added.lane_px = layout.lane_px(index);
    added.lanes.resize(LanesOf(index));
    added.bottom_px =
        added.lane_top_px + (added.lane_top_px - added.top_px) +
        added.lane_px * static_cast<float>(std::max<std::size_t>(added.lanes.size(), 1));
    excerpt.lanes_left_out += row.lanes.size() - added.lanes.size();
    for (std::uint32_t lane = 0; lane < added.lanes.size(); ++lane)
      AddLane({index, lane, 0}, looks, added.lanes[lane], excerpt);
    if (!row.counter) return;
    added.counter = CounterOf(index, excerpt.cell_ns);
    added.most = row.counter->Range(row.counter->start(), row.counter->end()).most;
  }

  void AddLane(EventRef ref, Looks& looks, std::vector<ExcerptSpan>& spans,
               Excerpt& excerpt) const {
    const Row& row = model_.rows[ref.row];
    const Lane& lane = row.lanes[ref.lane];
    for (const ThinSpan& thin : ThinLane(lane, chosen_.time, excerpt.cell_ns)) {
      ref.event = thin.event;
      const Ink ink = lane.ink(thin.event);
      const Category category = row.kind == RowKind::kDevice ? CategoryOf(ink) : Category::kHost;
      const TimeNs wait = thin.merged() ? 0 : WaitOf(row, thin);
      if (wait > 0) looks.Wait();
      spans.push_back({thin, looks.Of(EventLabel(run_, model_, ref), ink, category), wait});
      excerpt.events += thin.count;
      ++excerpt.spans;
      if (!thin.merged()) continue;
      excerpt.merged += thin.count;
      ++excerpt.merged_into;
    }
  }

  TimeNs WaitOf(const Row& row, const ThinSpan& span) const {
    if (row.kind != RowKind::kStream) return 0;
    const auto transfer = model_.waits.TransferStart(row.rank, row.device, span.start);
    return transfer ? std::clamp<TimeNs>(*transfer - span.start, 0, span.end - span.start) : 0;
  }

  void AddPlaces(Excerpt& excerpt) const {
    for (std::size_t i = 0; i < evidence_rows_.size(); ++i) {
      std::optional<ExcerptPlace>& place = excerpt.places.emplace_back();
      const Interval time = evidence_times_[i];
      if (evidence_rows_[i] == kNone || time.start < chosen_.time.start ||
          time.end > chosen_.time.end)
        continue;
      const auto row = std::find(rows_.begin(), rows_.end(), list_.StandIn(evidence_rows_[i]));
      if (row != rows_.end())
        place = ExcerptPlace{time, static_cast<std::uint32_t>(row - rows_.begin())};
    }
  }

  const Run& run_;
  const RowModel model_;
  RowList list_;
  ChosenSteps chosen_;
  std::vector<std::uint32_t> evidence_rows_;  // of each line; kNone: none here
  std::vector<Interval> evidence_times_;      // likewise
  std::vector<std::uint32_t> rows_;           // that are shown, from the top
  std::size_t rows_left_out_ = 0;
};

}  // namespace

Excerpt MakeExcerpt(const Run& run, const JudgedReport& found, std::size_t max_spans,
                    const std::function<bool(const Excerpt&)>& fits) {
  if (run.ranks.empty() || !found.judged || found.judged->steps.steps.empty()) return {};
  const ExcerptMaker maker(run, found);
  if (maker.empty()) return {};
  Excerpt excerpt = maker.Make(max_spans, 1);
  while (!fits(excerpt) && max_spans > 1) {
    max_spans = max_spans * 3 / 4;
    excerpt = maker.Make(max_spans, excerpt.cell_ns);
  }
  return excerpt;
}

}  // namespace traceinject
