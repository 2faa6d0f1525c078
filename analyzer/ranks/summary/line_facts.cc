// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/summary/line_facts.h"

#include <algorithm>

#include "analyzer/common/whole.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/device_places.h"
#include "analyzer/metrics/places/looks.h"
#include "analyzer/metrics/places/place_tally.h"
#include "analyzer/metrics/places/worker_places.h"
#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

std::vector<LineFacts> LinesOfStep(const Rank& rank, const TimeByPlace& time, double steps) {
  std::map<std::uint32_t, double> places;
  for (const PlaceTime& part : time.places) places[part.site.place] = part.ns / steps;
  return LinesOf(rank, places, kMaxHostLines);
}

TimeByPlace TimeOfThread(const LookRuns& runs, const CodeSites& sites, const Intervals& times) {
  PlaceTally tally;
  LookSweep sweep(runs);
  for (const Interval& time : times) {
    tally.AddTime(time.end - time.start);
    sweep.ForEach(time, [&](std::uint32_t stack, const LooksIn& looks) {
      tally.AddLooks(sites.Of(stack), looks);
    });
  }
  return tally.Finish();
}

Intervals TimesOfDataWaits(const Rank& rank, const Intervals& times) {
  const DataWaits& waits = rank.data_waits;
  return Intersect(MergeColumns(waits.start, waits.end, rank.end), times);
}

}  // namespace

std::vector<LineFacts> LinesOf(const Rank& rank, const std::map<std::uint32_t, double>& places,
                               std::size_t most) {
  std::map<std::string, double> texts;
  for (const auto& [place, ns] : places) {
    if (place != kNone) texts[PlaceText(rank, place)] += ns;
  }
  return LinesOf(texts, most);
}

std::vector<LineFacts> LinesOf(const std::map<std::string, double>& texts, std::size_t most) {
  std::vector<LineFacts> lines;
  for (const auto& [text, ns] : texts) {
    if (ns >= 1) lines.push_back({text, Whole(ns)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineFacts& a, const LineFacts& b) { return a.ns > b.ns; });
  if (lines.size() > most) lines.resize(most);
  return lines;
}

void AddHostLines(const DeviceAnalysis& found, RankSummary& to) {
  const Rank& rank = *found.rank;
  const auto steps = static_cast<double>(found.steps.count_regular());
  if (rank.stack_samples.size() == 0 || steps == 0) return;
  const std::vector<LookRuns> looks = LooksOfThreads(rank);
  const std::uint32_t thread = MainThreadOf(found, looks);
  if (thread == kNone) return;
  const CodeSites sites(rank);
  const Intervals times = found.steps.regular_times();
  to.host_lines = LinesOfStep(rank, TimeOfThread(looks[thread], sites, times), steps);
  if (rank.workers.empty()) return;
  to.worker_lines = LinesOfStep(
      rank, WorkerTimeByPlace(rank, looks, sites, TimesOfDataWaits(rank, times)), steps);
}

}  // namespace traceinject
