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
  CodeGroups(const DeviceAnalysis& judged, CodeGrouping grouping, SiteFrame frame)
      : rank_(*judged.rank),
        grouping_(grouping),
        frame_(frame),
        times_(ScopeOfPlaces(judged).times) {}

  std::vector<CodeRow> Rows(const DevicePlaces& places) {
    const CodeSites sites(rank_, frame_);
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

  // Of modules those that are together have the key of the one that was seen first.
  Key KeyOf(std::uint32_t place) {
    if (IsOfModules(grouping_)) return KeyOfModule(place);
    const CodePlace& code = rank_.places[place];
    return grouping_ == CodeGrouping::kLine ? Key(place, 0) : Key(code.function, code.file);
  }
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
  CodeRow& At(std::uint32_t place) {
    const auto [found, is_new] = rows_.try_emplace(KeyOf(place));
    if (is_new && IsOfModules(grouping_)) {
      found->second.module = ModuleText(place);
      found->second.own = true;
    } else if (is_new) {
      found->second.place = place;
      found->second.own = !IsLibraryPlace(rank_, rank_.places[place]);
    }
    return found->second;
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
      const std::uint32_t site = sites.Of(stack).place;
      const bool of_modules = IsOfModules(grouping_);
      At(of_modules ? site : rank_.stacks[stack].place).self_looks += looks;
      At(site).looks += looks;
      std::set<Key> on_it;  // each once, however deep it calls itself
      if (of_modules && site == kNone) At(site).total_looks += looks;
      for (std::uint32_t at = stack; at != kNone; at = rank_.stacks[at].caller) {
        const std::uint32_t place = of_modules ? rank_.stacks[at].module : rank_.stacks[at].place;
        if (of_modules && place == kNone) continue;
        if (on_it.insert(KeyOf(place)).second) At(place).total_looks += looks;
      }
    }
  }

  // What is outside of all modules is told as that.
  bool HasRow(const CodeSite& site) const { return site.place != kNone || IsOfModules(grouping_); }

  void AddTimes(const DevicePlaces& places) {
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      for (const PlaceTime& time : places.idle[cause].places) {
        if (!HasRow(time.site)) continue;
        CodeRow& row = At(time.site.place);
        row.idle_ns += time.ns;
        row.idle_low_ns += time.low_ns;
        row.idle_high_ns += time.high_ns;
        if (time.ns <= row.cause_ns) continue;
        row.cause = static_cast<IdleCause>(cause);
        row.cause_ns = time.ns;
      }
    }
    for (const PlaceTime& time : places.waits.places) {
      if (HasRow(time.site)) At(time.site.place).wait_ns += time.ns;
    }
    AddKernels(places.kernels);
    AddKernels(places.backward);
  }

  void AddKernels(const TimeByPlace& kernels) {
    for (const PlaceTime& time : kernels.places) {
      if (!HasRow(time.site)) continue;
      CodeRow& row = At(time.site.place);
      row.kernel_ns += time.ns;
      row.kernel_low_ns += time.low_ns;
      row.kernel_high_ns += time.high_ns;
    }
  }

  const Rank& rank_;
  const CodeGrouping grouping_;
  const SiteFrame frame_;
  const Intervals times_;
  std::map<Key, CodeRow> rows_;
  std::unordered_map<std::string, std::uint32_t> first_modules_;  // by name without numbers
  std::unordered_map<std::uint32_t, std::uint32_t> module_keys_;  // of each that of its group
};

}  // namespace

std::vector<CodeRow> RowsOfCode(const DeviceAnalysis& judged, const DevicePlaces& places,
                                CodeGrouping grouping, SiteFrame frame) {
  return CodeGroups(judged, grouping, frame).Rows(places);
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
