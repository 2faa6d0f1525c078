// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/code/code_tables.h"

#include <algorithm>

#include "analyzer/metrics/report/analyze_run.h"
#include "analyzer/metrics/report/report_code.h"
#include "analyzer/view/rows/code_text.h"

namespace traceinject {
namespace {

void AddWaits(const DeviceFigures& found, CodeTables& tables) {
  const Rank& rank = *found.rank;
  const auto rank_index = static_cast<std::uint32_t>(found.rank_index);
  const auto device = static_cast<std::uint32_t>(found.device - rank.devices.data());
  const PlaceScope scope = ScopeOfPlaces(found);
  const std::vector<IdlePiece> pieces =
      ExplainIdle(rank, *found.device, found.timeline, found.steps,
                  {scope.times.front().start, scope.times.back().end});
  VisitIdlePlaces(found, pieces, [&](const IdlePiece& piece, const IdlePlaces& places) {
    for (const PlaceTime& at : places.places.places) {
      if (at.site.place == kNone) continue;
      LongestWait& longest = tables.waits[{rank_index, at.site.place}];
      if (at.ns > longest.ns) longest = {rank_index, device, piece.time, at.ns};
    }
  });
}

// The event of the row of idle time.
std::optional<EventRef> EventOf(const RowModel& model, const LongestWait& wait) {
  for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
    const Row& idle = model.rows[row];
    if (idle.kind != RowKind::kIdle || idle.rank != wait.rank || idle.device != wait.device)
      continue;
    const std::size_t event = idle.lanes.front().FirstEndingAfter(wait.time.start);
    if (event < idle.lanes.front().size())
      return EventRef{row, 0, static_cast<std::uint32_t>(event)};
  }
  return std::nullopt;
}

// The longest box of the places in the rows of lines, else of frames. O(boxes).
std::optional<EventRef> LongestBox(const Run& run, const RowModel& model,
                                   const MarkedPlaces& marked) {
  for (const RowKind kind : {RowKind::kCode, RowKind::kFrames}) {
    std::optional<EventRef> longest;
    TimeNs length = 0;
    for (std::uint32_t row = 0; row < model.rows.size(); ++row) {
      if (model.rows[row].kind != kind) continue;
      for (std::uint32_t lane = 0; lane < model.rows[row].lanes.size(); ++lane) {
        const Lane& boxes = model.rows[row].lanes[lane];
        for (std::uint32_t box = 0; box < boxes.size(); ++box) {
          const EventRef ref{row, lane, box};
          if (boxes.end(box) - boxes.start(box) <= length ||
              !marked.Has(model.rows[row].rank, PlaceOf(run, model, ref)))
            continue;
          longest = ref;
          length = boxes.end(box) - boxes.start(box);
        }
      }
    }
    if (longest) return longest;
  }
  return std::nullopt;
}

// O(stacks).
bool HasModules(const Rank& rank) {
  return std::any_of(rank.stacks.begin(), rank.stacks.end(),
                     [](const auto& frame) { return frame.module != kNone; });
}

}  // namespace

std::optional<CodeTables> FindCode(const Run& run, const std::atomic<bool>& cancelled) {
  ReportOptions options;
  options.stop = &cancelled;
  const RunAnalysis analysis = AnalyzeRun(run, options, Depth::kCauses);
  if (cancelled) return std::nullopt;
  CodeTables tables;
  tables.has_modules = std::any_of(run.ranks.begin(), run.ranks.end(), HasModules);
  for (std::size_t i = 0; i < kCodeGroupings; ++i) {
    const auto grouping = static_cast<CodeGrouping>(i);
    if (IsOfModules(grouping) && !tables.has_modules) continue;
    tables.by[i] = WriteReportWithCode(analysis, grouping);
  }
  for (const DeviceFigures& device : analysis.devices) {
    if (cancelled) return std::nullopt;
    if (device.places) AddWaits(device, tables);
  }
  return tables;
}

std::optional<LongestWait> LongestOf(const CodeTables& tables, const MarkedPlaces& marked) {
  std::optional<LongestWait> longest;
  for (const auto& [at, wait] : tables.waits) {
    if (marked.Has(at.first, at.second) && (!longest || wait.ns > longest->ns)) longest = wait;
  }
  return longest;
}

void ShowCode(const CodeTables& tables, const CodeKey& key, Timeline& timeline) {
  const MarkedPlaces marked(timeline.run(), key);
  timeline.MarkPlaces(marked);
  timeline.SetMeasure(std::nullopt);
  if (marked.empty()) return;
  const std::optional<LongestWait> wait = LongestOf(tables, marked);
  std::optional<EventRef> event;
  if (wait) event = EventOf(timeline.model(), *wait);
  if (!event) event = LongestBox(timeline.run(), timeline.model(), marked);
  if (!event) return;
  const Lane& lane = timeline.model().lane(*event);
  timeline.Fit(lane.start(event->event), lane.end(event->event));
  timeline.Reveal(*event);
}

}  // namespace traceinject
