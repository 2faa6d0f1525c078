// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/kernel_places.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/metrics/places/near_stacks.h"

namespace traceinject {
namespace {

// Operations that are alike: kernels of one shape, copies of one kind, that one thread launched.
// What autograd's threads launch is apart so: these run no Python. Alike they may still take
// different times, as products of one grid with different lengths to sum over do: those that have a
// stack count by theirs.
struct AlikeOps {
  struct Launched {
    CodeSite site;
    std::int64_t count = 0;
    double weight = 0;
    std::map<std::uint32_t, double> stacks = {};  // by stack, the weight
  };

  TimeNs total_ns = 0;
  std::int64_t count = 0, stacks = 0;
  double weight = 0;  // of all with a stack
  std::map<SiteKey, Launched> sites;

  // A launch with a stack; of an operation that took no time it still tells something.
  void Add(const CodeSite& site, TimeNs ns) {
    const auto weighs = static_cast<double>(std::max<TimeNs>(ns, 1));
    Launched& launched = sites.try_emplace(site.key(), Launched{site}).first->second;
    ++launched.count;
    launched.weight += weighs;
    launched.stacks[site.stack] += weighs;
    ++stacks;
    weight += weighs;
  }
};

// How far a time may be off, squared.
struct TimeVariance {
  double below = 0, above = 0;
};

using AlikeKey = std::pair<std::uint64_t, std::uint32_t>;  // what, thread

AlikeKey KeyOf(const Rank& rank, const GpuOps& ops, std::size_t row) {
  constexpr std::uint64_t kTransfer = std::uint64_t{1} << 32;
  const std::uint32_t launch = ops.launch[row];
  const std::uint32_t thread = launch == kNone ? kNone : rank.api.thread[launch];
  if (ops.kind[row] == OpKind::kKernel) return {ops.detail[row], thread};
  return {kTransfer + 256 * static_cast<std::uint64_t>(ops.kind[row]) +
              rank.transfers[ops.detail[row]].kind,
          thread};
}

void AddAlike(const AlikeOps& alike, std::map<SiteKey, PlaceTime>& places,
              std::map<SiteKey, TimeVariance>& variances) {
  const auto total = static_cast<double>(alike.total_ns);
  for (const auto& [key, launched] : alike.sites) {
    const ShareBounds share = BoundsOfShare(launched.weight / alike.weight, alike.stacks);
    PlaceTime& time = places[key];
    time.site = launched.site;
    time.site.stack = kNone;
    time.looks += launched.count;
    time.ns += share.share * total;
    for (const auto& [stack, weight] : launched.stacks)
      time.stacks[stack] += total * weight / alike.weight;
    if (alike.stacks >= alike.count) continue;  // of each is known who launched it
    TimeVariance& variance = variances[key];
    variance.below += std::pow(total * (share.share - share.low), 2);
    variance.above += std::pow(total * (share.high - share.share), 2);
  }
}

using AlikeGroups = std::map<AlikeKey, AlikeOps>;

// Those of which no launch had its stack taken: libraries launch some out of sight of the wrappers
// (cuDNN, Triton). Where the main thread stood nearby counts instead.
void AddNearStacks(const Rank& rank, const GpuOps& ops, std::uint32_t main, const CodeSites& sites,
                   const Intervals& times, AlikeGroups& groups) {
  std::map<AlikeKey, std::vector<Interval>> launches;
  for (const auto& [key, alike] : groups) {
    if (alike.stacks == 0 && key.second == main && main != kNone) launches[key];
  }
  if (launches.empty()) return;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (ops.launch[row] == kNone || !Contains(times, ops.start[row])) continue;
    const auto group = launches.find(KeyOf(rank, ops, row));
    if (group == launches.end()) continue;
    group->second.push_back({rank.api.start[ops.launch[row]], rank.api.end[ops.launch[row]]});
  }
  const NearStacks near(rank, main);
  for (const auto& [key, calls] : launches) {
    for (const std::uint32_t stack : near.Of(calls)) groups[key].Add(sites.Of(stack), 1);
  }
}

}  // namespace

std::unordered_map<std::uint64_t, std::uint32_t> StacksOfLaunches(const Rank& rank) {
  std::unordered_map<std::uint64_t, std::uint32_t> stacks;
  const StackSamples& samples = rank.stack_samples;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const bool of_call =
        samples.kind[row] == StackKind::kLaunch || samples.kind[row] == StackKind::kCall;
    if (of_call && samples.correlation[row] != 0 && samples.stack[row] != kNone)
      stacks.emplace(samples.correlation[row], samples.stack[row]);
  }
  return stacks;
}

TimeByPlace KernelTimeByPlace(const Rank& rank, const Device& device, std::uint32_t main,
                              const CodeSites& sites, const Intervals& times) {
  const std::unordered_map<std::uint64_t, std::uint32_t> stacks = StacksOfLaunches(rank);
  const GpuOps& ops = device.ops;
  AlikeGroups groups;
  TimeByPlace all;
  for (std::size_t row = 0; row < ops.size(); ++row) {
    if (!Contains(times, ops.start[row])) continue;
    AlikeOps& alike = groups[KeyOf(rank, ops, row)];
    alike.total_ns += ops.end[row] - ops.start[row];
    ++alike.count;
    const auto stack = stacks.find(ops.correlation[row]);
    if (stack == stacks.end()) continue;
    alike.Add(sites.Of(stack->second), ops.end[row] - ops.start[row]);
  }
  AddNearStacks(rank, ops, main, sites, times, groups);
  std::map<SiteKey, PlaceTime> places;
  std::map<SiteKey, TimeVariance> variances;
  for (const auto& [key, alike] : groups) {
    all.total_ns += alike.total_ns;
    all.looks += alike.stacks;
    if (alike.stacks == 0) all.unknown_ns += alike.total_ns;
    AddAlike(alike, places, variances);
  }
  for (auto& [key, time] : places) {
    time.low_ns = std::max(0.0, time.ns - std::sqrt(variances[key].below));
    time.high_ns = time.ns + std::sqrt(variances[key].above);
    all.places.push_back(std::move(time));
  }
  std::ranges::stable_sort(all.places, std::greater(), &PlaceTime::ns);
  return all;
}

}  // namespace traceinject
