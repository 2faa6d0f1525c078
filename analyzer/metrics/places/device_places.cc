// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/device_places.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/places/backward_places.h"
#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/metrics/places/kernel_places.h"
#include "analyzer/metrics/places/worker_places.h"

namespace traceinject {
namespace {

// Calls whose own stack was taken, by start.
struct KnownCall {
  Interval time;
  CodeSite site;
};

std::vector<KnownCall> KnownCalls(const Rank& rank, const CodeSites& sites) {
  std::unordered_map<std::uint64_t, std::uint32_t> stacks;
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.kind[row] == StackKind::kCall && samples.correlation[row] != 0 &&
        samples.stack[row] != kNone)
      stacks.emplace(samples.correlation[row], samples.stack[row]);
  }
  std::vector<KnownCall> calls;
  if (stacks.empty()) return calls;
  const ApiCalls& api = rank.api;
  for (std::size_t row = 0; row < api.size(); ++row) {
    const auto stack = stacks.find(api.correlation[row]);
    if (stack != stacks.end() && api.end[row] != kOpen)
      calls.push_back({{api.start[row], api.end[row]}, sites.Of(stack->second)});
  }
  return calls;
}

bool IsLate(IdleCause cause) {
  return cause == IdleCause::kLaunch || cause == IdleCause::kPython ||
         cause == IdleCause::kHostWait;
}

// Divides stretches of host time, which come by start, over places.
class HostPlaces {
 public:
  HostPlaces(const DeviceAnalysis& judged, const std::vector<LookRuns>& looks,
             const CodeSites& sites)
      : rank_(*judged.rank),
        ops_(judged.device->ops),
        sites_(sites),
        calls_(KnownCalls(rank_, sites)),
        main_(MainThreadOf(judged, looks)) {
    for (const LookRuns& runs : looks) {
      sweeps_.emplace_back(runs);
      has_looks_.push_back(!runs.empty());
    }
  }

  // Whose Python is to be looked at, of idle time that ended with an operation.
  std::uint32_t ThreadOf(std::uint32_t ended_by) const {
    const std::uint32_t launch = ended_by == kNone ? kNone : ops_.launch[ended_by];
    const std::uint32_t thread = launch == kNone ? kNone : rank_.api.thread[launch];
    return thread < has_looks_.size() && has_looks_[thread] ? thread : main_;
  }

  // To each of the tallies.
  void Add(Interval time, std::uint32_t thread, std::initializer_list<PlaceTally*> tallies) {
    for (PlaceTally* tally : tallies) tally->AddTime(time.end - time.start);
    if (thread == kNone) return;
    sweeps_[thread].ForEach(time, [&](std::uint32_t stack, const LooksIn& looks) {
      for (PlaceTally* tally : tallies) tally->AddLooks(sites_.Of(stack), looks);
    });
  }

  // Likewise, but where a call is known that was going on, for its line.
  void AddWaits(Interval time, std::uint32_t thread, PlaceTally& tally) {
    PassCalls(time.start);
    TimeNs now = time.start;
    for (std::size_t i = next_; i < calls_.size() && calls_[i].time.start < time.end; ++i) {
      const Interval known{std::max(now, calls_[i].time.start),
                           std::min(time.end, calls_[i].time.end)};
      if (known.end <= known.start) continue;
      if (known.start > now) Add({now, known.start}, thread, {&tally});
      tally.AddExact(calls_[i].site, known.end - known.start);
      now = known.end;
    }
    if (now < time.end) Add({now, time.end}, thread, {&tally});
  }

  // Time after a call that let the device run dry: for the line of that call, whatever the host did
  // since. Where the call is not known, for those lines that AddDraining() finds.
  void AddDrained(const HostTimeline& timeline, Interval time, PlaceTally& tally) {
    const KnownCall* call = CallOf(LastSync(timeline, time.start));
    if (call != nullptr)
      tally.AddExact(call->site, time.end - time.start);
    else
      tally.AddTime(time.end - time.start);
  }
  void AddDraining(const HostTimeline& timeline, const Intervals& times, PlaceTally& tally) {
    for (const HostSegment& segment : timeline.segments) {
      if (segment.cause == IdleCause::kSync && Contains(times, segment.time.start))
        AddMainLooks(segment.time, tally);
    }
  }
  // Of one such time by itself. `draining`: of another sweep over the looks.
  void AddDrainedAlone(const HostTimeline& timeline, Interval time, HostPlaces& draining,
                       PlaceTally& tally) {
    AddDrained(timeline, time, tally);
    const Interval wait = LastSync(timeline, time.start);
    if (CallOf(wait) == nullptr) draining.AddMainLooks(wait, tally);
  }

 private:
  void AddMainLooks(Interval time, PlaceTally& tally) {
    if (main_ == kNone) return;
    sweeps_[main_].ForEach(time, [&](std::uint32_t stack, const LooksIn& looks) {
      tally.AddLooks(sites_.Of(stack), looks);
    });
  }
  void PassCalls(TimeNs time) {
    while (next_ < calls_.size() && calls_[next_].time.end < time) ++next_;
  }
  // The wait for the device that began last. Empty: none did.
  static Interval LastSync(const HostTimeline& timeline, TimeNs time) {
    auto at = std::upper_bound(
        timeline.segments.begin(), timeline.segments.end(), time,
        [](TimeNs t, const HostSegment& segment) { return t < segment.time.start; });
    while (at != timeline.segments.begin()) {
      if ((--at)->cause == IdleCause::kSync) return at->time;
    }
    return {};
  }
  // The known call that lies in it. Null: there is none.
  const KnownCall* CallOf(Interval wait) const {
    const auto after =
        std::lower_bound(calls_.begin(), calls_.end(), wait.end,
                         [](const KnownCall& call, TimeNs t) { return call.time.start < t; });
    if (after == calls_.begin() || (after - 1)->time.end <= wait.start) return nullptr;
    return &*(after - 1);
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const CodeSites& sites_;
  const std::vector<KnownCall> calls_;
  const std::uint32_t main_;
  std::vector<LookSweep> sweeps_;  // by thread
  std::vector<bool> has_looks_;
  std::size_t next_ = 0;  // the first call that is not long over
};

// Parts of the pieces inside the times, in order.
template <typename Visit>
void ForEachPart(const std::vector<IdlePiece>& pieces, const Intervals& times, Visit visit) {
  auto time = times.begin();
  for (const IdlePiece& piece : pieces) {
    while (time != times.end() && time->end <= piece.time.start) ++time;
    for (auto at = time; at != times.end() && at->start < piece.time.end; ++at) {
      visit(Interval{std::max(at->start, piece.time.start), std::min(at->end, piece.time.end)},
            piece);
    }
  }
}

// `draining`: of another sweep over the looks.
void FindIdlePlaces(const DeviceAnalysis& judged, const std::vector<IdlePiece>& pieces,
                    const Intervals& times, HostPlaces host, HostPlaces draining,
                    DevicePlaces& found) {
  std::array<PlaceTally, kIdleCauses> idle;
  PlaceTally late, stretches, after_waits;
  ForEachPart(pieces, times, [&](Interval part, const IdlePiece& piece) {
    PlaceTally& of_cause = idle[static_cast<std::size_t>(piece.cause)];
    const std::uint32_t thread = host.ThreadOf(piece.ended_by);
    if (IsLate(piece.cause)) {
      const bool is_long =
          piece.cause != IdleCause::kLaunch && piece.time.end - piece.time.start >= kLongStretchNs;
      if (is_long)
        host.Add(part, thread, {&of_cause, &late, &stretches});
      else
        host.Add(part, thread, {&of_cause, &late});
      return;
    }
    if (piece.cause == IdleCause::kDrainedBySync) {
      host.AddDrained(judged.timeline, part, of_cause);
      host.Add(part, thread, {&after_waits});
    } else {
      host.AddWaits(part, thread, of_cause);
    }
  });
  draining.AddDraining(judged.timeline, times,
                       idle[static_cast<std::size_t>(IdleCause::kDrainedBySync)]);
  for (std::size_t i = 0; i < kIdleCauses; ++i) found.idle[i] = idle[i].Finish();
  found.late = late.Finish();
  found.stretches = stretches.Finish();
  found.after_waits = after_waits.Finish();
}

TimeByPlace WaitsByPlace(const DeviceAnalysis& judged, const Intervals& times, HostPlaces host) {
  PlaceTally waits;
  const ApiCalls& api = judged.rank->api;
  const std::vector<bool>& feeders = judged.timeline.feeders;
  for (std::size_t row = 0; row < api.size(); ++row) {
    const std::uint32_t thread = api.thread[row];
    if (judged.rank->api_names[api.name[row]].api_class != ApiClass::kSynchronize ||
        thread >= feeders.size() || !feeders[thread] || api.end[row] == kOpen ||
        !Contains(times, api.start[row]))
      continue;
    host.AddWaits({api.start[row], api.end[row]}, thread, waits);
  }
  return waits.Finish();
}

Intervals TimesOfDataWaits(const std::vector<IdlePiece>& pieces, const Intervals& times) {
  Intervals waits;
  ForEachPart(pieces, times, [&](Interval part, const IdlePiece& piece) {
    if (piece.cause == IdleCause::kDataWait) Append(waits, part);
  });
  return waits;
}

}  // namespace

PlaceScope ScopeOfPlaces(const DeviceAnalysis& judged) {
  const Steps& steps = judged.steps;
  PlaceScope scope{{}, 0};
  if (steps.source != StepSource::kWindow)
    scope = {steps.judged_times(), static_cast<double>(steps.count_judged())};
  if (scope.times.empty()) return {{{steps.start_ns, steps.steps.back().time.end}}, 1};
  return scope;
}

std::uint32_t MainThreadOf(const DeviceAnalysis& judged, const std::vector<LookRuns>& looks) {
  const std::vector<bool>& feeders = judged.timeline.feeders;
  std::pair<int, std::int64_t> most;  // a feeder before the main thread, and its looks
  std::uint32_t main = kNone;
  for (std::uint32_t thread = 0; thread < looks.size(); ++thread) {
    const bool feeds = thread < feeders.size() && feeders[thread];
    const bool first = judged.rank->threads[thread].tid == judged.rank->process.pid;
    const std::pair<int, std::int64_t> rating = {feeds   ? 2
                                                 : first ? 1
                                                         : 0,
                                                 CountLooks(looks[thread])};
    if (rating.first == 0 || rating.second == 0 || rating <= most) continue;
    most = rating;
    main = thread;
  }
  return main;
}

void VisitIdlePlaces(const DeviceAnalysis& judged, const std::vector<IdlePiece>& pieces,
                     const std::function<void(const IdlePiece&, const IdlePlaces&)>& visit) {
  const CodeSites sites(*judged.rank);
  const std::vector<LookRuns> looks = LooksOfThreads(*judged.rank);
  HostPlaces host(judged, looks, sites), draining = host;
  for (const IdlePiece& piece : pieces) {
    PlaceTally tally;
    const std::uint32_t thread = host.ThreadOf(piece.ended_by);
    if (IsLate(piece.cause)) {
      host.Add(piece.time, thread, {&tally});
    } else if (piece.cause == IdleCause::kDrainedBySync) {
      host.AddDrainedAlone(judged.timeline, piece.time, draining, tally);
    } else {
      host.AddWaits(piece.time, thread, tally);
    }
    visit(piece, {thread, tally.Finish()});
  }
}

std::optional<DevicePlaces> FindDevicePlaces(const DeviceAnalysis& judged, SiteFrame frame) {
  const Rank& rank = *judged.rank;
  if (rank.stack_samples.size() == 0 || judged.steps.steps.empty()) return std::nullopt;
  const CodeSites sites(rank, frame);
  const std::vector<LookRuns> looks = LooksOfThreads(rank);
  const PlaceScope scope = ScopeOfPlaces(judged);
  const std::vector<IdlePiece> pieces =
      ExplainIdle(rank, *judged.device, judged.timeline, judged.steps,
                  {scope.times.front().start, scope.times.back().end});
  const HostPlaces host(judged, looks, sites);
  DevicePlaces found;
  found.frame = frame;
  found.steps = scope.steps;
  found.waits = WaitsByPlace(judged, scope.times, host);
  FindIdlePlaces(judged, pieces, scope.times, host, host, found);
  found.workers = WorkerTimeByPlace(rank, looks, sites, TimesOfDataWaits(pieces, scope.times));
  const std::uint32_t main = MainThreadOf(judged, looks);
  found.kernels = KernelTimeByPlace(rank, *judged.device, main, sites, scope.times);
  found.backward = BackwardTimeByPlace(rank, *judged.device, looks, main, sites, scope.times);
  return found;
}

}  // namespace traceinject
