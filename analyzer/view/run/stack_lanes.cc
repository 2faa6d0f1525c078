// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/run/stack_lanes.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/places/code_rows.h"
#include "analyzer/metrics/places/code_sites.h"

namespace traceinject {
namespace {

constexpr TimeNs kUsualPeriodNs = 10'000'000;        // where the recording does not tell it
constexpr TimeNs kLongestPeriodNs = 10'000'000'000;  // damaged recordings may say anything
constexpr TimeNs kPeriodsTogether = 3;  // looks further apart tell nothing of the time between them

// A thread stood here from start to end.
struct Stay {
  Interval time;
  std::uint32_t stack = kNone;
};
using Stays = std::vector<Stay>;  // by start, without overlaps

// What was seen of one thread: looks from the first to the last that found the same, and calls.
struct SeenOfThread {
  Stays looks, calls;
};

std::vector<SeenOfThread> SortByThread(const Rank& rank) {
  std::vector<SeenOfThread> threads(rank.threads.size());
  std::unordered_map<std::uint64_t, std::size_t> of_call;  // rows of samples
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    if (samples.thread[row] >= threads.size()) continue;
    const StackKind kind = samples.kind[row];
    if (kind == StackKind::kTimed || kind == StackKind::kStall) {
      const TimeNs first = samples.time[row];
      threads[samples.thread[row]].looks.push_back(
          {{first, first + samples.span[row]}, samples.stack[row]});
    } else if (samples.correlation[row] != 0) {
      of_call.emplace(samples.correlation[row], row);
    }
  }
  if (of_call.empty()) return threads;
  const ApiCalls& api = rank.api;
  for (std::size_t call = 0; call < api.size(); ++call) {
    const auto found = of_call.find(api.correlation[call]);
    if (found == of_call.end() || samples.thread[found->second] != api.thread[call]) continue;
    if (api.end[call] == kOpen || api.thread[call] >= threads.size()) continue;
    threads[api.thread[call]].calls.push_back(
        {{api.start[call], api.end[call]}, samples.stack[found->second]});
  }
  return threads;
}

// From looks to the times that they stand for. Where the next one is missing, the thread ran no
// Python.
Stays AroundLooks(const Stays& looks, TimeNs period) {
  Stays stays;
  TimeNs start = looks.empty() ? 0 : looks.front().time.start - period / 2;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const TimeNs last = looks[i].time.end;
    TimeNs end = last + period / 2, next_start = end;
    if (i + 1 < looks.size()) {
      const TimeNs next = looks[i + 1].time.start;
      const bool together = next - last < kPeriodsTogether * period;
      if (together) end = last + (next - last) / 2;
      next_start = together ? end : next - period / 2;
    }
    stays.push_back({{start, std::max(start, end)}, looks[i].stack});
    start = std::max(start, next_start);
  }
  return stays;
}

// The calls, and what is left of the looks between them.
Stays LayOver(const Stays& looks, const Stays& calls) {
  Stays all;
  all.reserve(looks.size() + 2 * calls.size());
  TimeNs free_from = std::numeric_limits<TimeNs>::min();
  const auto add = [&](Interval time, std::uint32_t stack) {
    time.start = std::max(time.start, free_from);
    if (time.end <= time.start) return;
    all.push_back({time, stack});
    free_from = time.end;
  };
  auto call = calls.begin();
  for (const Stay& look : looks) {
    for (; call != calls.end() && call->time.start < look.time.end; ++call) {
      add({look.time.start, std::min(call->time.start, look.time.end)}, look.stack);
      add(call->time, call->stack);
    }
    add(look.time, look.stack);
  }
  for (; call != calls.end(); ++call) add(call->time, call->stack);
  return all;
}

// Boxes of one lane, of which those that touch and have the same key become one.
class BoxMerger {
 public:
  explicit BoxMerger(LaneEvents& lane) : lane_(lane) {}

  void Add(Interval time, std::uint32_t key, Ink ink) {
    if (key_ == key && time_.end == time.start) {
      time_.end = time.end;
      return;
    }
    Flush();
    time_ = time;
    key_ = key;
    ink_ = ink;
  }
  void Flush() {
    if (key_ != kNone) lane_.Add(time_.start, time_.end, key_, ink_);
    key_ = kNone;
  }

 private:
  LaneEvents& lane_;
  Interval time_;
  std::uint32_t key_ = kNone;  // kNone: there is no box
  Ink ink_ = Ink::kLibraryCode;
};

class LaneMaker {
 public:
  explicit LaneMaker(const Rank& rank) : rank_(rank), sites_(rank) {
    inks_.reserve(rank.places.size());
    for (const CodePlace& place : rank.places) {
      inks_.push_back(CodeInk(rank.string(place.function), !IsLibraryPlace(rank, place)));
    }
  }

  StackLanes Make(const Stays& stays) {
    StackLanes lanes;
    BoxMerger lines(lanes.lines);
    for (const Stay& stay : stays) {
      if (stay.stack == kNone) continue;
      const std::uint32_t place = sites_.Of(stay.stack).place;
      lines.Add(stay.time, place, inks_[place]);
      AddFrames(stay, lanes);
    }
    lines.Flush();
    CloseFrom(0, lanes);
    return lanes;
  }

 private:
  struct OpenBox {
    std::uint32_t stack = kNone;
    TimeNs start = 0;
  };

  // What stays the same from the outermost frame on goes on; the rest begins anew.
  void AddFrames(const Stay& stay, StackLanes& lanes) {
    path_.clear();
    for (std::uint32_t at = stay.stack; at != kNone; at = rank_.stacks[at].caller) {
      path_.push_back(at);
    }
    std::reverse(path_.begin(), path_.end());
    lanes.deepest = std::max(lanes.deepest, path_.size());
    if (path_.size() > kMaxFrameLanes) path_.resize(kMaxFrameLanes);
    std::size_t same = 0;
    if (open_until_ == stay.time.start) {
      while (same < std::min(path_.size(), open_.size()) && open_[same].stack == path_[same])
        ++same;
    }
    CloseFrom(same, lanes);
    for (std::size_t depth = same; depth < path_.size(); ++depth)
      open_.push_back({path_[depth], stay.time.start});
    if (lanes.frames.size() < path_.size()) lanes.frames.resize(path_.size());
    open_until_ = stay.time.end;
  }

  void CloseFrom(std::size_t depth, StackLanes& lanes) {
    for (std::size_t i = depth; i < open_.size(); ++i) {
      const std::uint32_t stack = open_[i].stack;
      lanes.frames[i].Add(open_[i].start, open_until_, stack, inks_[rank_.stacks[stack].place]);
    }
    open_.resize(depth);
  }

  const Rank& rank_;
  const CodeSites sites_;
  std::vector<Ink> inks_;      // by place
  std::vector<OpenBox> open_;  // by depth; all of them end at open_until_
  TimeNs open_until_ = 0;
  std::vector<std::uint32_t> path_;
};

}  // namespace

TimeNs UsualLookPeriod(const Rank& rank) {
  const TimeNs known = LookPeriod(rank);
  return known > 0 ? std::min(known, kLongestPeriodNs) : kUsualPeriodNs;
}

std::vector<StackLanes> StackLanesOf(const Rank& rank) {
  std::vector<StackLanes> lanes(rank.threads.size());
  if (rank.stack_samples.size() == 0) return lanes;
  const TimeNs period = UsualLookPeriod(rank);
  LaneMaker maker(rank);
  std::vector<SeenOfThread> threads = SortByThread(rank);
  for (std::size_t thread = 0; thread < threads.size(); ++thread) {
    SeenOfThread seen = std::move(threads[thread]);
    lanes[thread] = maker.Make(LayOver(AroundLooks(seen.looks, period), seen.calls));
  }
  return lanes;
}

}  // namespace traceinject
