// SPDX-License-Identifier: Apache-2.0
#include "analyzer/verdict/lever_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analyzer/common/units.h"
#include "analyzer/metrics/idle/host_load.h"
#include "analyzer/verdict/add_link_findings.h"

namespace traceinject {
namespace {

constexpr int kGoodPrefetch = 4;

struct LoaderWaits {
  const DataLoader* loader = nullptr;  // null: none is known
  double wait_ns = 0;                  // of a mean step
  double step_ns = 0;
  int epochs = 0;  // that begin between the first of these steps and the last
};

// In the steps that count for the label.
LoaderWaits MainLoader(const DeviceAnalysis& judged) {
  const Rank& rank = *judged.rank;
  const std::vector<bool> use = StepsOfCause(judged, "dataloader");
  std::vector<Interval> times;
  LoaderWaits found;
  double steps = 0;
  for (std::size_t i = 0; i < use.size(); ++i) {
    if (!use[i]) continue;
    times.push_back(judged.steps.steps[i].time);
    found.step_ns += static_cast<double>(judged.steps.steps[i].length_ns());
    ++steps;
  }
  if (steps == 0) return {};
  const Intervals inside = Merge(std::move(times));
  std::vector<double> sums(rank.loaders.size());
  const DataWaits& waits = rank.data_waits;
  for (std::size_t row = 0; row < waits.size(); ++row) {
    if (waits.loader[row] >= sums.size() || waits.end[row] == kOpen) continue;
    if (Contains(inside, waits.start[row]))
      sums[waits.loader[row]] += static_cast<double>(waits.end[row] - waits.start[row]);
  }
  const auto most = std::max_element(sums.begin(), sums.end());
  if (most == sums.end() || *most <= 0) return {};
  const auto loader = static_cast<std::uint32_t>(most - sums.begin());
  found.loader = &rank.loaders[loader];
  for (std::size_t row = 0; row < waits.size(); ++row) {
    if (waits.loader[row] == loader && waits.batch[row] == 0 &&
        waits.start[row] >= inside.front().start && waits.start[row] < inside.back().end)
      ++found.epochs;
  }
  found.wait_ns = *most / steps;
  found.step_ns /= steps;
  return found;
}

const char* PythonBool(bool value) { return value ? "True" : "False"; }

std::string_view HostFact(const Rank& rank, std::string_view key) {
  for (const SystemFact& fact : rank.facts) {
    if (fact.kind == "host" && fact.key == key) return fact.value;
  }
  return {};
}

// What of the text is a whole number, and what comes after it; -1: nothing.
int TakeNumber(std::string_view& text) {
  int value = -1;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(result.ptr - text.data()));
  return result.ec == std::errc() ? value : -1;
}

// Of "0-15,32-47", as the kernel writes it; 0: it is not that.
int CountProcessors(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    const int first = TakeNumber(list);
    int last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      last = TakeNumber(list);
    }
    if (first < 0 || last < first) return 0;
    count += last - first + 1;
    if (!list.empty() && !list.starts_with(',')) break;
    if (!list.empty()) list.remove_prefix(1);
  }
  return count;
}

// Of cgroup's "<quota> <period>", in whole processors; 0: there is none.
int Quota(std::string_view text) {
  const int quota = TakeNumber(text);
  if (quota <= 0 || !text.starts_with(' ')) return 0;
  text.remove_prefix(1);
  const int period = TakeNumber(text);
  return period > 0 ? std::max(1, quota / period) : 0;
}

bool IsNameLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::optional<int> CoresForWorkers(const Rank& rank) {
  const int online = CountProcessors(HostFact(rank, "cpus_online"));
  int cores = CountProcessors(HostFact(rank, "cpu_affinity"));
  if (cores == 0) cores = online;
  if (cores == 0) return std::nullopt;
  // Ranks that are not bound share the host and what its container may use.
  const int sharing = std::max(1, rank.process.local_world_size.value_or(1));
  if (cores >= online) cores = std::max(1, cores / sharing);
  if (const int quota = Quota(HostFact(rank, "cpu_quota")); quota > 0)
    cores = std::min(cores, std::max(1, quota / sharing));
  return std::max(1, cores - 1);
}

LeverFacts WorkersOf(const LeverContext& context) {
  const LoaderWaits waits = MainLoader(context.judged);
  LeverFacts facts;
  if (waits.loader == nullptr) return facts;
  const int now = waits.loader->workers;
  LeverValue value{"num_workers", std::to_string(now), {}};
  if (context.new_step_ns > 0) {
    // Without workers the program loads while it waits; else all of them are busy.
    const double work_ns = now == 0 ? waits.wait_ns : now * waits.step_ns;
    const double enough = std::ceil(work_ns / context.new_step_ns);
    const std::optional<int> cores = CoresForWorkers(*context.judged.rank);
    const double most = cores ? std::max(now, *cores) : enough;
    if (std::min(enough, most) > now)
      value.suggested = std::to_string(std::llround(std::min(enough, most)));
    facts.values.push_back(std::move(value));
    if (enough > most)
      facts.values.push_back({"CPU cores for this rank's workers", std::to_string(*cores), {}});
  } else {
    facts.values.push_back(std::move(value));
  }
  if (waits.epochs > 0 && !waits.loader->persistent_workers)
    facts.values.push_back({std::string(kEpochsBegun), std::to_string(waits.epochs), {}});
  return facts;
}

LeverFacts PrefetchingOf(const LeverContext& context) {
  LeverFacts facts;
  const DataLoader* const loader = MainLoader(context.judged).loader;
  if (loader == nullptr) return facts;
  const int prefetches = loader->workers > 0 ? loader->prefetch_factor.value_or(0) : 0;
  if (prefetches < kGoodPrefetch)
    facts.values.push_back({"prefetch_factor",
                            prefetches > 0 ? std::to_string(prefetches) : std::string("None"),
                            std::to_string(kGoodPrefetch)});
  if (!loader->persistent_workers)
    facts.values.push_back({"persistent_workers", PythonBool(false), PythonBool(true)});
  facts.is_set = facts.values.empty();
  return facts;
}

LeverFacts PinningOf(const LeverContext& context) {
  LeverFacts facts;
  const DataLoader* const loader = MainLoader(context.judged).loader;
  if (loader == nullptr) return facts;
  facts.is_set = loader->pin_memory;
  if (!facts.is_set) facts.values.push_back({"pin_memory", PythonBool(false), PythonBool(true)});
  return facts;
}

LeverFacts BucketsOf(const LeverContext& context) {
  return {MedianBucketBytes(context.judged).has_value(), {}};
}

LeverFacts ProcessorsOf(const LeverContext& context) {
  const DeviceAnalysis& judged = context.judged;
  const Intervals times = Merge(judged.steps.judged_times());
  const auto waited_ns = ProcessorWaitOfFeeders(*judged.rank, judged.timeline, times);
  const auto all_ns = static_cast<double>(Length(times));
  if (!waited_ns || *waited_ns < kLeastUnscheduled * all_ns) return {.is_set = true, .values = {}};
  const auto steps = static_cast<double>(std::max<std::size_t>(judged.steps.count_judged(), 1));
  return {.is_set = false,
          .values = {{"waiting",
                      fmt::format("{} per step ({})", Rounded(*waited_ns / steps),
                                  Percent(*waited_ns / all_ns)),
                      ""}}};
}

std::vector<LeverValue> EnvironmentValues(std::string_view text, const Rank& rank) {
  std::vector<LeverValue> values;
  for (const SystemFact& fact : rank.facts) {
    if (fact.kind != "env" || fact.value.empty()) continue;
    const std::size_t at = text.find(fact.key);
    if (at == std::string_view::npos || (at > 0 && IsNameLetter(text[at - 1]))) continue;
    std::string_view after = text.substr(at + fact.key.size());
    if (!after.empty() && IsNameLetter(after.front())) continue;
    LeverValue value{fact.key, fact.value, {}};
    if (text.substr(0, at).ends_with("unset ")) value.suggested = "unset";
    if (after.starts_with('=')) value.suggested = after.substr(1, after.find_first_of(" ,;)") - 1);
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace traceinject
