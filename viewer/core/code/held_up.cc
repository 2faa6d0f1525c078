// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/code/held_up.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/places/worker_places.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/view/rows/code_text.h"
#include "analyzer/view/run/device_findings.h"
#include "analyzer/view/run/stack_lanes.h"

namespace traceinject {
namespace {

constexpr std::size_t kMostPlaces = 3;
constexpr TimeNs kPeriodsNear = 2;  // a look further away tells nothing

// O(samples).
std::uint32_t StackOfLaunch(const Rank& rank, std::uint32_t launch) {
  const std::uint64_t correlation = rank.api.correlation[launch];
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const bool is_of_call =
        samples.kind[row] == StackKind::kCall || samples.kind[row] == StackKind::kLaunch;
    if (is_of_call && samples.correlation[row] == correlation) return samples.stack[row];
  }
  return kNone;
}

class HeldUpText {
 public:
  HeldUpText(const Run& run, const RowModel& model, const HeldUp& found)
      : rank_(run.ranks[found.rank]), labels_(model.place_labels[found.rank]), found_(found) {}

  std::vector<Detail> All() {
    const TimeByPlace& host = found_.host.places;
    for (const std::string& line : Lines(host)) lines_.emplace_back("held up by", line);
    if (lines_.empty() && found_.near_place != kNone) {
      lines_.emplace_back("held up by",
                          fmt::format("probably {}: {}", labels_[found_.near_place], NearText()));
    } else if (lines_.empty()) {
      lines_.emplace_back("held up by", "not known: no sample fell into this time");
    }
    if (found_.host.thread != kNone) {
      lines_.emplace_back("sampled thread", ThreadText(rank_.threads[found_.host.thread]));
    }
    for (const std::string& line : Lines(found_.workers)) {
      lines_.emplace_back("workers meanwhile", line);
    }
    for (const auto& [place, workers] : found_.workers_around) {
      lines_.emplace_back("workers meanwhile",
                          fmt::format("{}: {} in the samples before and after", labels_[place],
                                      Plural(workers, "worker")));
    }
    if (found_.launched_at != kNone)
      lines_.emplace_back("launched at", labels_[found_.launched_at]);
    return std::move(lines_);
  }

 private:
  std::string NearText() const {
    return found_.away_ns == 0
               ? "there in the samples before and after"
               : fmt::format("the nearest sample, {} away", FormatTime(found_.away_ns));
  }

  std::vector<std::string> Lines(const TimeByPlace& time) const {
    std::vector<std::string> lines;
    for (const PlaceTime& at : time.places) {
      if (lines.size() == kMostPlaces) break;
      std::string text = at.site.place == kNone ? "no Python" : labels_[at.site.place];
      if (at.site.library != kNone)
        text += fmt::format(" ({})", Printable(LibraryText(rank_, at.site.library)));
      const auto ns = static_cast<std::int64_t>(std::llround(at.ns));
      text += fmt::format(": {}", FormatShare(ns, time.total_ns, 0));
      text += at.looks > 0
                  ? fmt::format(", {} of {}", FormatCount(at.looks), Plural(time.looks, "sample"))
                  : ", by the stack of a call";
      lines.push_back(std::move(text));
    }
    return lines;
  }

  const Rank& rank_;
  const std::vector<std::string>& labels_;
  const HeldUp& found_;
  std::vector<Detail> lines_;
};

}  // namespace

std::uint32_t HeldUp::place() const {
  return host.places.places.empty() ? near_place : host.places.places.front().site.place;
}

bool IsIdleTime(const RowModel& model, const EventRef& ref) {
  return model.rows[ref.row].kind == RowKind::kIdle;
}

const HeldUpFinder::OfRank& HeldUpFinder::RankOf(std::uint32_t rank) {
  return ranks_.try_emplace(rank, run_.ranks[rank]).first->second;
}

const DeviceAnalysis& HeldUpFinder::DeviceOf(std::uint32_t rank, std::uint32_t device) {
  const auto [found, is_new] = devices_.try_emplace({rank, device});
  if (is_new) {
    DeviceAnalysis& analysis = found->second;
    analysis.rank = &run_.ranks[rank];
    analysis.device = &analysis.rank->devices[device];
    analysis.timeline = BuildHostTimeline(*analysis.rank, *analysis.device);
  }
  return found->second;
}

void HeldUpFinder::FindNear(const OfRank& of_rank, TimeNs period, const Interval& time,
                            HeldUp& found) const {
  const LookRuns& runs = of_rank.looks[found.host.thread];
  const auto next = std::partition_point(runs.begin(), runs.end(),
                                         [&](const LookRun& run) { return run.first < time.end; });
  TimeNs nearest = kPeriodsNear * period;
  const auto consider = [&](const LookRun& run, TimeNs away) {
    const std::uint32_t place = of_rank.sites.Of(run.stack).place;
    if (away > nearest || place == kNone) return;
    nearest = away;
    found.near_place = place;
    found.away_ns = away;
  };
  if (next != runs.end()) consider(*next, next->first - time.end);
  if (next == runs.begin()) return;
  const LookRun& before = *std::prev(next);
  consider(before, std::max<TimeNs>(time.start - before.last, 0));
}

void HeldUpFinder::FindWorkers(const OfRank& of_rank, const Rank& rank, const Interval& time,
                               HeldUp& found) const {
  found.workers = WorkerTimeByPlace(rank, of_rank.looks, of_rank.sites, {time});
  if (!found.workers.places.empty()) return;
  for (std::size_t thread = 0; thread < of_rank.looks.size(); ++thread) {
    const auto is_it = [&](const Worker& worker) { return worker.pid == rank.threads[thread].tid; };
    if (std::none_of(rank.workers.begin(), rank.workers.end(), is_it)) continue;
    const LookRuns& runs = of_rank.looks[thread];
    const auto next = std::partition_point(
        runs.begin(), runs.end(), [&](const LookRun& run) { return run.first < time.end; });
    if (next == runs.begin() || std::prev(next)->last < time.end) continue;
    const CodeSite site = of_rank.sites.Of(std::prev(next)->stack);
    if (site.own) ++found.workers_around[site.place];
  }
}

HeldUp HeldUpFinder::Find(const EventRef& gap) {
  const Row& row = model_.rows[gap.row];
  const Lane& lane = model_.lane(gap);
  HeldUp found;
  found.gap = gap;
  found.rank = row.rank;
  const Rank& rank = run_.ranks[row.rank];
  if (rank.stack_samples.size() == 0) return found;
  const OfRank& of_rank = RankOf(row.rank);
  const IdlePiece piece{{lane.start(gap.event), lane.end(gap.event)},
                        CauseOf(lane.ink(gap.event)),
                        lane.source(gap.event)};
  VisitIdlePlaces(DeviceOf(row.rank, row.device), {piece},
                  [&](const IdlePiece&, const IdlePlaces& places) { found.host = places; });
  if (piece.cause == IdleCause::kDataWait) FindWorkers(of_rank, rank, piece.time, found);
  if (found.host.places.places.empty() && found.host.thread != kNone) {
    FindNear(of_rank, UsualLookPeriod(rank), piece.time, found);
  }
  const std::uint32_t launch =
      piece.ended_by == kNone ? kNone : rank.devices[row.device].ops.launch[piece.ended_by];
  if (launch != kNone) found.launched_at = of_rank.sites.Of(StackOfLaunch(rank, launch)).place;
  return found;
}

std::vector<Detail> HeldUpDetails(const Run& run, const RowModel& model, const HeldUp& found) {
  if (run.ranks[found.rank].stack_samples.size() == 0) return {};
  return HeldUpText(run, model, found).All();
}

}  // namespace traceinject
