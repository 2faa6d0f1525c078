// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/code_rows.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace traceinject {
namespace {

class CodeGroups {
 public:
  CodeGroups(const DeviceAnalysis& judged, CodeGrouping grouping)
      : rank_(*judged.rank), grouping_(grouping), times_(ScopeOfPlaces(judged).times) {}

  std::vector<CodeRow> Rows(const DevicePlaces& places) {
    const CodeSites sites(rank_, places.frame);
    const std::vector<LookRuns> threads = LooksOfThreads(rank_);
    if (grouping_ == CodeGrouping::kThread) {
      AddThreads(threads);
    } else {
      AddLooks(threads, sites);
      AddTimes(places);
    }
    std::vector<CodeRow> rows;
    for (auto& [key, row] : rows_) rows.push_back(row);
    return rows;
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;

  Key KeyOfPlace(std::uint32_t place) const {
    const CodePlace& code = rank_.places[place];
    return grouping_ == CodeGrouping::kLine ? Key(place, 0) : Key(code.function, code.file);
  }
  // Those that are together have the key of the one that was seen first.
  Key KeyOfModule(std::uint32_t module) {
    if (grouping_ == CodeGrouping::kEachModule || module == kNone) return {module, 0};
    const auto [known, is_new] = module_keys_.try_emplace(module, module);
    if (is_new) {
      known->second =
          first_modules_.try_emplace(WithoutNumbers(rank_.string(module)), module).first->second;
    }
    return {known->second, 0};
  }
  std::string ModuleText(std::uint32_t module) const {
    if (module == kNone) return {};
    const std::string_view name = rank_.string(module);
    return grouping_ == CodeGrouping::kEachModule ? std::string(name) : WithoutNumbers(name);
  }
  CodeRow& AtPlace(std::uint32_t place) {
    const auto [found, is_new] = rows_.try_emplace(KeyOfPlace(place));
    if (is_new) {
      found->second.place = place;
      found->second.own = !IsLibraryPlace(rank_, rank_.places[place]);
    }
    return found->second;
  }
  CodeRow& AtModule(std::uint32_t module) {
    const auto [found, is_new] = rows_.try_emplace(KeyOfModule(module));
    if (is_new) {
      found->second.module = ModuleText(module);
      found->second.own = true;
    }
    return found->second;
  }
  // Null: nothing is told of it.
  CodeRow* RowOf(const CodeSite& site) {
    if (IsOfModules(grouping_)) return &AtModule(site.module);
    return site.place == kNone ? nullptr : &AtPlace(site.place);
  }

  template <typename Visit>
  void ForEachLook(const LookRuns& runs, Visit visit) const {
    LookSweep sweep(runs);
    for (const Interval& time : times_) sweep.ForEach(time, visit);
  }

  void AddThreads(const std::vector<LookRuns>& threads) {
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
      double all = 0;
      ForEachLook(threads[thread],
                  [&](std::uint32_t, const LooksIn& looks) { all += looks.looks; });
      if (all == 0) continue;
      CodeRow& row = rows_[{thread, 0}];
      row.thread = thread;
      row.self_looks = row.looks = row.total_looks = all;
    }
  }

  void AddLooks(const std::vector<LookRuns>& threads, const CodeSites& sites) {
    std::unordered_map<std::uint32_t, double> of_stack;
    for (const LookRuns& runs : threads) {
      ForEachLook(runs, [&](std::uint32_t stack, const LooksIn& looks) {
        if (stack != kNone) of_stack[stack] += looks.looks;
      });
    }
    for (const auto& [stack, looks] : of_stack) {
      if (IsOfModules(grouping_))
        AddToModules(stack, sites.Of(stack).module, looks);
      else
        AddToPlaces(stack, sites.Of(stack).place, looks);
    }
  }
  void AddToPlaces(std::uint32_t stack, std::uint32_t place, double looks) {
    AtPlace(rank_.stacks[stack].place).self_looks += looks;
    AtPlace(place).looks += looks;
    std::set<Key> on_it;  // each once, however deep it calls itself
    for (std::uint32_t at = stack; at != kNone; at = rank_.stacks[at].caller) {
      const std::uint32_t caller = rank_.stacks[at].place;
      if (on_it.insert(KeyOfPlace(caller)).second) AtPlace(caller).total_looks += looks;
    }
  }
  // What is outside of all modules is told as that.
  void AddToModules(std::uint32_t stack, std::uint32_t module, double looks) {
    CodeRow& innermost = AtModule(module);
    innermost.self_looks += looks;
    innermost.looks += looks;
    if (module == kNone) innermost.total_looks += looks;
    std::set<Key> on_it;
    for (std::uint32_t at = stack; at != kNone; at = rank_.stacks[at].caller) {
      const std::uint32_t caller = rank_.stacks[at].module;
      if (caller != kNone && on_it.insert(KeyOfModule(caller)).second)
        AtModule(caller).total_looks += looks;
    }
  }

  void AddTimes(const DevicePlaces& places) {
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      for (const PlaceTime& time : places.idle[cause].places) {
        CodeRow* const row = RowOf(time.site);
        if (row == nullptr) continue;
        row->idle_ns += time.ns;
        row->idle_low_ns += time.low_ns;
        row->idle_high_ns += time.high_ns;
        if (time.ns <= row->cause_ns) continue;
        row->cause = static_cast<IdleCause>(cause);
        row->cause_ns = time.ns;
      }
    }
    for (const PlaceTime& time : places.waits.places) {
      if (CodeRow* const row = RowOf(time.site)) row->wait_ns += time.ns;
    }
    AddKernels(places.kernels);
    AddKernels(places.backward);
  }

  void AddKernels(const TimeByPlace& kernels) {
    for (const PlaceTime& time : kernels.places) {
      CodeRow* const row = RowOf(time.site);
      if (row == nullptr) continue;
      row->kernel_ns += time.ns;
      row->kernel_low_ns += time.low_ns;
      row->kernel_high_ns += time.high_ns;
    }
  }

  const Rank& rank_;
  const CodeGrouping grouping_;
  const Intervals times_;
  std::map<Key, CodeRow> rows_;
  std::unordered_map<std::string, std::uint32_t> first_modules_;  // by name without numbers
  std::unordered_map<std::uint32_t, std::uint32_t> module_keys_;  // of each that of its group
};

}  // namespace

std::vector<CodeRow> RowsOfCode(const DeviceAnalysis& judged, const DevicePlaces& places,
                                CodeGrouping grouping) {
  return CodeGroups(judged, grouping).Rows(places);
}

TimeNs LookPeriod(const Rank& rank) {
  for (const SystemFact& fact : rank.facts) {
    if (fact.kind != "stacks" || fact.key != "period_ns") continue;
    TimeNs period = 0;
    std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), period);
    return std::max<TimeNs>(0, period);
  }
  return 0;
}

}  // namespace traceinject
