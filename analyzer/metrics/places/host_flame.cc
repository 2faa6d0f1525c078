// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/host_flame.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "analyzer/metrics/places/device_places.h"
#include "analyzer/metrics/places/looks.h"

namespace traceinject {
namespace {

double SumOf(const LooksByState& looks) {
  double sum = 0;
  for (const double one : looks) sum += one;
  return sum;
}

// What the device did at the looks of a thread.
class LooksOfDevice {
 public:
  // `calls`: when the thread called CUDA, in order.
  LooksOfDevice(const std::vector<GpuStretch>& states, const std::vector<TimeNs>& calls)
      : states_(states), calls_(calls) {}

  // Those of a run in a time, which come in order. A thread that calls nothing from the first to
  // the last look stays where it is, and the looks between lie anywhere between. One that does has
  // been elsewhere and is back: only at the first and the last it is known to be there.
  void Divide(const LookRun& run, Interval time, double looks, LooksByState& to) {
    const Interval seen{std::max(run.first, time.start), std::min(run.last + 1, time.end)};
    if (Stays(run)) return Book(seen, looks, to);
    const bool has_first = run.first >= time.start, has_last = run.last < time.end;
    const double each = looks / (int{has_first} + int{has_last});
    if (has_first) Book({run.first, run.first + 1}, each, to);
    if (has_last) Book({run.last, run.last + 1}, each, to);
  }

 private:
  bool Stays(const LookRun& run) {
    while (next_call_ < calls_.size() && calls_[next_call_] <= run.first) ++next_call_;
    return next_call_ == calls_.size() || calls_[next_call_] > run.last;
  }

  void Book(Interval seen, double looks, LooksByState& to) {
    const auto length = static_cast<double>(seen.end - seen.start);
    double known = 0;
    states_.ForEach(seen, [&](std::uint8_t state, TimeNs ns) {
      const double part = looks * static_cast<double>(ns) / length;
      to[state] += part;
      known += part;
    });
    to[kStateUnrecorded] += std::max(0.0, looks - known);
  }

  GpuStateSweep states_;
  const std::vector<TimeNs>& calls_;
  std::size_t next_call_ = 0;  // the first after the last run's first look
};

std::vector<TimeNs> CallsOf(const Rank& rank, std::uint32_t thread) {
  std::vector<TimeNs> calls;
  for (std::size_t row = 0; row < rank.api.size(); ++row) {
    if (rank.api.thread[row] == thread) calls.push_back(rank.api.start[row]);
  }
  return calls;
}

// A frame on its way into the flame.
struct Node {
  std::uint32_t place = kNone;
  LooksByState states{};
  double looks = 0;
  std::map<std::uint32_t, std::size_t> callees;  // by place
};

class FlameOfThread {
 public:
  FlameOfThread(const Rank& rank, const FlameLimits& limits) : rank_(rank), limits_(limits) {}

  void Add(std::uint32_t stack, const LooksByState& states) {
    Book(states, nodes_.front());
    std::vector<std::uint32_t> places;
    for (std::uint32_t at = stack; at != kNone; at = rank_.stacks[at].caller)
      places.push_back(rank_.stacks[at].place);
    std::size_t node = 0;
    for (std::size_t i = places.size(); i-- > 0;) {
      node = CalleeOf(node, places[i]);
      Book(states, nodes_[node]);
    }
  }

  HostFlame Finish(std::uint32_t thread) {
    HostFlame flame;
    flame.thread = thread;
    for (Node& node : nodes_) node.looks = SumOf(node.states);
    all_ = flame.looks = nodes_.front().looks;
    flame.states = nodes_.front().states;
    least_ = LeastLooks();
    Write(0, 0, flame);
    flame.left_out = nodes_.size() - 1 - flame.frames.size();
    return flame;
  }

 private:
  static void Book(const LooksByState& looks, Node& node) {
    for (std::size_t state = 0; state < kGpuStates; ++state) node.states[state] += looks[state];
  }
  std::size_t CalleeOf(std::size_t node, std::uint32_t place) {
    const auto [known, is_new] = nodes_[node].callees.try_emplace(place, nodes_.size());
    const std::size_t callee = known->second;
    if (is_new) nodes_.emplace_back().place = place;
    return callee;
  }

  // So that no more frames are as wide as may be kept. A frame is never wider than its caller.
  double LeastLooks() const {
    const double least = limits_.least_share * all_;
    std::vector<double> looks;
    for (std::size_t i = 1; i < nodes_.size(); ++i) looks.push_back(nodes_[i].looks);
    if (looks.size() <= limits_.frames) return least;
    const auto last = looks.begin() + static_cast<std::ptrdiff_t>(limits_.frames);
    std::nth_element(looks.begin(), last, looks.end(), std::greater<>());
    return std::max(least, std::nextafter(*last, all_));
  }

  void Write(std::size_t node, std::size_t depth, HostFlame& flame) const {
    if (depth >= limits_.depth) return;
    std::vector<std::size_t> callees;
    for (const auto& [place, callee] : nodes_[node].callees) {
      if (nodes_[callee].looks >= least_) callees.push_back(callee);
    }
    std::ranges::stable_sort(callees, std::greater<>(),
                             [&](std::size_t callee) { return nodes_[callee].looks; });
    for (const std::size_t callee : callees) {
      const Node& one = nodes_[callee];
      const bool own = !IsLibraryPlace(rank_, rank_.places[one.place]);
      flame.frames.push_back({depth, one.place, own, one.looks, one.states});
      Write(callee, depth + 1, flame);
    }
  }

  const Rank& rank_;
  const FlameLimits& limits_;
  double all_ = 0, least_ = 0;
  std::vector<Node> nodes_{1};  // the first stands above all stacks
};

// Threads with looks in these times, the one that stands for the device first.
std::vector<std::uint32_t> ThreadsToShow(const DeviceAnalysis& judged,
                                         const std::vector<LookRuns>& looks,
                                         const Intervals& times) {
  const std::uint32_t main = MainThreadOf(judged, looks);
  std::vector<std::pair<double, std::uint32_t>> found;
  for (std::uint32_t thread = 0; thread < looks.size(); ++thread) {
    double all = 0;
    LookSweep sweep(looks[thread]);
    for (const Interval& time : times)
      sweep.ForEach(time, [&](std::uint32_t, const LooksIn& in) { all += in.looks; });
    if (all > 0) found.emplace_back(all, thread);
  }
  std::ranges::stable_sort(found, [&](const auto& a, const auto& b) {
    if ((a.second == main) != (b.second == main)) return a.second == main;
    return a.first > b.first;
  });
  std::vector<std::uint32_t> threads;
  for (const auto& [count, thread] : found) threads.push_back(thread);
  return threads;
}

}  // namespace

std::vector<HostFlame> FindHostFlames(const DeviceAnalysis& judged, const FlameLimits& limits) {
  const Rank& rank = *judged.rank;
  if (rank.stack_samples.size() == 0 || judged.steps.steps.empty()) return {};
  const Intervals times = ScopeOfPlaces(judged).times;
  const std::vector<LookRuns> looks = LooksOfThreads(rank);
  const std::vector<GpuStretch> states =
      GpuStatesIn(judged, {times.front().start, times.back().end});
  std::vector<HostFlame> flames;
  for (const std::uint32_t thread : ThreadsToShow(judged, looks, times)) {
    if (flames.size() == limits.threads) break;
    std::unordered_map<std::uint32_t, LooksByState> of_stack;
    LookSweep sweep(looks[thread]);
    const std::vector<TimeNs> calls = CallsOf(rank, thread);
    LooksOfDevice device(states, calls);
    for (const Interval& time : times) {
      sweep.ForEachRun(time, [&](const LookRun& run, const LooksIn& in) {
        device.Divide(run, time, in.looks, of_stack[run.stack]);
      });
    }
    FlameOfThread flame(rank, limits);
    for (const auto& [stack, by_state] : of_stack) flame.Add(stack, by_state);
    flames.push_back(flame.Finish(thread));
  }
  return flames;
}

}  // namespace traceinject
