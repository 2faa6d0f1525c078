// SPDX-License-Identifier: Apache-2.0
#include "analyzer/compare/compare_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "analyzer/compare/change.h"
#include "analyzer/compare/statistics/false_discovery.h"
#include "analyzer/model/kernel_class.h"

namespace traceinject {
namespace {

// Of what the kernels take in a step: smaller changes are none.
constexpr double kMinChange = 0.01;
constexpr double kMinUncertainChange = 0.05;

struct Side {
  const KernelKey* key = nullptr;
  const KernelTimes* times = nullptr;
  double count = 0;  // in a step

  double mean_ns() const {
    return static_cast<double>(times->total_ns) / static_cast<double>(times->launches);
  }
};

struct Pair {
  Side before, after;  // key null: it has none
  MeanDifference difference;
  double adjusted_p = 1;

  bool both() const { return before.key != nullptr && after.key != nullptr; }
  bool reshaped() const { return both() && *before.key != *after.key; }
};

Side SideOf(const std::pair<const KernelKey, KernelTimes>& entry, const ComparedRun& run) {
  return {&entry.first, &entry.second,
          static_cast<double>(entry.second.launches) / static_cast<double>(run.steps.size())};
}

// Of each name, the keys that only one side has.
using Unmatched = std::map<std::string_view, std::vector<std::size_t>>;

// Rows of one name that both sides have once, launched in another way.
void JoinReshaped(std::vector<Pair>& pairs) {
  Unmatched gone, fresh;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].after.key == nullptr) gone[pairs[i].before.key->name].push_back(i);
    if (pairs[i].before.key == nullptr) fresh[pairs[i].after.key->name].push_back(i);
  }
  std::set<std::size_t> joined;
  for (const auto& [name, rows] : gone) {
    const auto other = fresh.find(name);
    if (rows.size() != 1 || other == fresh.end() || other->second.size() != 1) continue;
    pairs[rows[0]].after = pairs[other->second[0]].after;
    joined.insert(other->second[0]);
  }
  for (auto row = joined.rbegin(); row != joined.rend(); ++row)
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(*row));
}

std::vector<Pair> PairsOf(const KernelsOfSteps& before, const KernelsOfSteps& after,
                          const ComparedRun& run_before, const ComparedRun& run_after) {
  std::vector<Pair> pairs;
  for (const auto& entry : before.kernels) {
    Pair pair;
    pair.before = SideOf(entry, run_before);
    const auto other = after.kernels.find(entry.first);
    if (other != after.kernels.end()) pair.after = SideOf(*other, run_after);
    pairs.push_back(pair);
  }
  for (const auto& entry : after.kernels) {
    if (before.kernels.contains(entry.first)) continue;
    Pair pair;
    pair.after = SideOf(entry, run_after);
    pairs.push_back(pair);
  }
  JoinReshaped(pairs);
  return pairs;
}

void Measure(const KernelsOfSteps& before, const KernelsOfSteps& after, std::vector<Pair>& pairs) {
  std::vector<double> p;
  for (Pair& pair : pairs) {
    const auto series = [](const Side& side, std::size_t groups) {
      return side.times != nullptr ? side.times->step_ns : std::vector<double>(groups);
    };
    pair.difference =
        DifferenceOfMeans(series(pair.before, before.groups), series(pair.after, after.groups));
    p.push_back(pair.difference.p);
  }
  const std::vector<double> adjusted = AdjustedP(p);
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].adjusted_p = adjusted[i];
}

bool Changed(const Pair& pair) {
  const MeanDifference& difference = pair.difference;
  const double change = std::abs(difference.change());
  const double whole = std::max(difference.before, difference.after);
  if (!difference.interval) return change >= kMinUncertainChange * whole;
  return pair.adjusted_p < kFalseDiscoveryRate && change >= kMinChange * whole;
}

// By what explains most of the change: how many are launched, or how long one takes.
const char* StateOf(const Pair& pair) {
  if (pair.before.key == nullptr) return "new";
  if (pair.after.key == nullptr) return "gone";
  if (pair.reshaped()) return "reshaped";
  const double count = std::log(pair.after.count / pair.before.count);
  const double length = std::log(pair.after.mean_ns() / pair.before.mean_ns());
  if (std::abs(count) > std::abs(length)) return count > 0 ? "more" : "fewer";
  return length > 0 ? "slower" : "faster";
}

// Where they were recorded.
template <typename Field>
void DimsOf(const std::array<std::int32_t, 3>& dims, Field* to) {
  if (dims[0] > 0) to->Add(dims.begin(), dims.end());
}

void RowOf(const Pair& pair, proto::KernelChange& row) {
  const Side& known = pair.after.key != nullptr ? pair.after : pair.before;
  row.set_name(known.key->name);
  row.set_kernel_class(std::string(KernelClassName(known.times->kernel_class)));
  DimsOf(known.key->grid, row.mutable_grid());
  DimsOf(known.key->block, row.mutable_block());
  if (pair.reshaped()) {
    DimsOf(pair.before.key->grid, row.mutable_grid_before());
    DimsOf(pair.before.key->block, row.mutable_block_before());
  }
  row.set_state(StateOf(pair));
  *row.mutable_step_ns() = ChangeOf(pair.difference);
  row.set_count_before(pair.before.count);
  row.set_count_after(pair.after.count);
  if (pair.before.key != nullptr) row.set_mean_before_ns(pair.before.mean_ns());
  if (pair.after.key != nullptr) row.set_mean_after_ns(pair.after.mean_ns());
  if (pair.difference.interval) row.set_adjusted_p(pair.adjusted_p);
}

std::map<std::string, double> TimeByName(const ComparedRun& side) {
  std::map<std::string, double> names;
  double sum = 0;
  for (const auto& [key, times] : TimesOfKernels(side).kernels) {
    names[key.name] += static_cast<double>(times.total_ns);
    sum += static_cast<double>(times.total_ns);
  }
  for (auto& [name, share] : names) share = sum > 0 ? share / sum : 0;
  return names;
}

}  // namespace

proto::KernelChanges CompareKernels(const ComparedRun& before, const ComparedRun& after) {
  proto::KernelChanges changes;
  if (before.steps.empty() || after.steps.empty()) return changes;
  const KernelsOfSteps was = TimesOfKernels(before), is = TimesOfKernels(after);
  std::vector<Pair> pairs = PairsOf(was, is, before, after);
  Measure(was, is, pairs);
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::abs(a.difference.change()) > std::abs(b.difference.change());
  });
  double net = 0, unchanged = 0;
  changes.set_compared(static_cast<std::int64_t>(pairs.size()));
  for (const Pair& pair : pairs) {
    net += pair.difference.change();
    if (Changed(pair)) {
      RowOf(pair, *changes.add_rows());
      continue;
    }
    unchanged += pair.difference.change();
    changes.set_unchanged(changes.unchanged() + 1);
  }
  changes.set_net_ns(std::llround(net));
  changes.set_unchanged_net_ns(std::llround(unchanged));
  return changes;
}

double SharedKernelTime(const ComparedRun& before, const ComparedRun& after) {
  const std::map<std::string, double> was = TimeByName(before), is = TimeByName(after);
  double shared = 0;
  for (const auto& [name, share] : was) {
    if (const auto other = is.find(name); other != is.end()) shared += share + other->second;
  }
  return shared / 2;
}

}  // namespace traceinject
