// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/timeline/summarise_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/common/median.h"
#include "analyzer/ranks/timeline/timeline_blocks.h"

namespace traceinject {
namespace {

// The same on all ranks, whatever else there is in the file (FNV-1a).
std::uint64_t HashOf(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

// A step is irregular beyond the median by this many scaled deviations, and by a tenth.
constexpr double kIrregularDeviations = 5 * 1.4826, kIrregularShare = 0.1;

class TimelineSummary {
 public:
  TimelineSummary(std::vector<TimelineRow> rows, const TimelineTexts& texts, std::int64_t base_ns,
                  RankSummary& to, std::vector<std::string>& notes)
      : rows_(std::move(rows)), texts_(texts), to_(to), notes_(notes) {
    for (TimelineRow& row : rows_) row.start -= base_ns, row.end -= base_ns;
    std::sort(rows_.begin(), rows_.end(), [](const TimelineRow& a, const TimelineRow& b) {
      return std::tie(a.start, a.end) < std::tie(b.start, b.end);
    });
  }

  void Summarize() {
    to_.start = rows_.front().start;
    to_.end = to_.start;
    for (const TimelineRow& row : rows_) to_.end = std::max(to_.end, row.end);
    PlaceSteps();
    AddWork();
    AddCommunication();
    SplitSteps();
    AddKernels();
  }

 private:
  static bool IsSend(const TimelineRow& row) { return row.kind->function == "Send"; }

  // From the end of the step before, where that is known, to the last end of an operation in it.
  // What is still being sent then belongs to who receives it.
  void PlaceSteps() {
    std::map<std::int64_t, Interval> own;
    for (const TimelineRow& row : rows_) {
      if (row.step < 0) continue;
      const TimeNs end = IsSend(row) ? row.start : row.end;
      const auto [at, is_new] = own.try_emplace(row.step, Interval{row.start, end});
      if (!is_new) at->second.end = std::max(at->second.end, end);
    }
    if (own.empty()) return;
    const auto first =
        std::lower_bound(texts_.steps.begin(), texts_.steps.end(), own.begin()->first);
    TimeNs before = own.begin()->second.start;
    for (auto step = first; step != texts_.steps.end() && *step <= own.rbegin()->first; ++step) {
      StepFacts facts;
      const auto known = own.find(*step);
      if (known == own.end()) {
        facts.time = {before, before};
        facts.regular = false;
      } else {
        const bool follows = step != first && *(step - 1) == *step - 1 && own.contains(*step - 1);
        facts.time.start = follows ? before : std::max(before, known->second.start);
        facts.time.end = std::max(facts.time.start, known->second.end);
      }
      before = facts.time.end;
      index_of_.emplace(*step, static_cast<std::uint32_t>(to_.steps.size()));
      to_.steps.push_back(facts);
    }
    FindIrregular();
  }

  void FindIrregular() {
    std::vector<double> lengths;
    for (const StepFacts& step : to_.steps) {
      if (step.regular) lengths.push_back(static_cast<double>(step.time.end - step.time.start));
    }
    if (lengths.empty()) return;
    const double median = Median(lengths);
    for (double& length : lengths) length = std::abs(length - median);
    const double most = std::max(kIrregularDeviations * Median(lengths), kIrregularShare * median);
    for (StepFacts& step : to_.steps) {
      const auto length = static_cast<double>(step.time.end - step.time.start);
      step.regular = step.regular && std::abs(length - median) <= most;
    }
  }

  std::uint32_t StepOf(const TimelineRow& row) const {
    const auto found = index_of_.find(row.step);
    return found == index_of_.end() ? kNone : found->second;
  }

  // One after the other: an operation inside of another one counts as a part of that.
  void AddWork() {
    std::size_t inside = 0;
    TimeNs before = to_.start;
    for (const TimelineRow& row : rows_) {
      const Interval time{row.start, row.end};
      if (row.kind->work == TimelineWork::kHost)
        host_[static_cast<std::size_t>(row.kind->cause)].push_back(time);
      if (row.kind->work != TimelineWork::kCompute) continue;
      if (row.end <= before && row.start < before) {
        ++inside;
        continue;
      }
      to_.work.start.push_back(std::max(row.start, before));
      to_.work.end.push_back(row.end);
      to_.work.kind.push_back(WorkKindOf(*row.kind));
      to_.work.micro_batch.push_back(row.micro_batch);
      to_.work.step.push_back(StepOf(row));
      Append(compute_, {to_.work.start.back(), row.end});
      before = row.end;
    }
    for (Intervals& one : host_) one = Merge(std::move(one));
    if (inside > 0)
      notes_.push_back(fmt::format(
          "{}: rank {}: {} operations lie inside of others that compute, and were left out",
          to_.path, to_.rank, inside));
  }

  std::uint32_t WorkKindOf(const TimelineKind& kind) {
    const auto found = std::find(to_.work_kinds.begin(), to_.work_kinds.end(), kind.name);
    if (found == to_.work_kinds.end()) {
      to_.work_kinds.emplace_back(kind.name);
      called_.emplace_back(kind.function);
      return static_cast<std::uint32_t>(to_.work_kinds.size() - 1);
    }
    return static_cast<std::uint32_t>(found - to_.work_kinds.begin());
  }

  void AddCommunication() {
    std::vector<const TimelineRow*> rows;
    std::vector<TimelineTransfer> transfers;
    TimeNs end = to_.start;
    for (const TimelineRow& row : rows_) {
      if (!IsSend(row)) end = std::max(end, row.end);
      if (row.kind->work != TimelineWork::kPair && row.kind->work != TimelineWork::kCollective)
        continue;
      rows.push_back(&row);
      transfers.push_back({{row.start, row.end}, IsSend(row)});
    }
    Intervals busy = compute_;
    for (const Intervals& one : host_) busy.insert(busy.end(), one.begin(), one.end());
    const std::vector<TimeNs> blocked = FindBlocked(Merge(std::move(busy)), end, transfers);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      AddOperation(*rows[i], transfers[i].time, blocked[i]);
      communication_.push_back(transfers[i].time);
    }
    communication_ = Merge(std::move(communication_));
    for (auto& [hash, group] : groups_) to_.groups.push_back(std::move(group));
  }

  void AddOperation(const TimelineRow& row, Interval time, TimeNs blocked) {
    GroupOperations& group = GroupOf(row);
    group.start.push_back(time.start);
    group.end.push_back(time.end);
    group.launch.push_back(kOpen);
    const TimeNs exposed = time.end - time.start - LengthInside(compute_, time);
    group.exposed_ns.push_back(exposed);
    group.blocked_ns.push_back(std::min(blocked, exposed));
    group.kind.push_back(KindOf(row));
    group.peer.push_back(row.peer);
    group.sequence.push_back(-1);
    group.step.push_back(StepOf(row));
  }

  GroupOperations& GroupOf(const TimelineRow& row) {
    // What goes up the ranks and what comes down do not wait for each other.
    static const std::uint64_t kUp = HashOf("\1up"), kDown = HashOf("\1down");
    const bool pair = row.kind->work == TimelineWork::kPair;
    const bool up = (row.kind->function == "Send") == (row.peer > to_.rank);
    const std::uint64_t hash = pair ? (up ? kUp : kDown) : HashOf(texts_.groups[row.group].name);
    const auto [at, is_new] = groups_.try_emplace(hash);
    if (!is_new) return at->second;
    at->second.hash = hash;
    if (pair) {
      at->second.rank = to_.rank;
      at->second.name = up ? "sends to higher ranks" : "sends to lower ranks";
    } else {
      at->second.name = texts_.groups[row.group].name;
      at->second.size = texts_.groups[row.group].size;
    }
    return at->second;
  }

  std::uint32_t KindOf(const TimelineRow& row) {
    const auto [known, is_new] = kind_of_.try_emplace({row.kind->function, texts_.bytes[row.size]},
                                                      static_cast<std::uint32_t>(to_.kinds.size()));
    if (is_new) to_.kinds.push_back({std::string(known->first.first), known->first.second});
    return known->second;
  }

  void SplitSteps() {
    Intervals taken = Merge([&] {
      Intervals all = compute_;
      all.insert(all.end(), communication_.begin(), communication_.end());
      return all;
    }());
    std::array<Intervals, kIdleCauses> idle;
    for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
      if (host_[cause].empty()) continue;
      idle[cause] = Subtract(host_[cause], taken);
      Intervals more = std::move(taken);
      more.insert(more.end(), idle[cause].begin(), idle[cause].end());
      taken = Merge(std::move(more));
    }
    for (StepFacts& step : to_.steps) {
      TimeNs rest = step.time.end - step.time.start;
      rest -= step.compute_ns = LengthInside(compute_, step.time);
      for (std::size_t cause = 0; cause < kIdleCauses; ++cause)
        rest -= step.idle_ns[cause] = LengthInside(idle[cause], step.time);
      const TimeNs free = step.time.end - step.time.start - LengthInside(taken, step.time);
      step.exposed_communication_ns = rest - free;
      step.idle_ns[static_cast<std::size_t>(IdleCause::kUnknown)] += free;
    }
  }

  // Operations of one kind stand for kernels of one name.
  void AddKernels() {
    std::vector<std::vector<double>> lengths(to_.work_kinds.size());
    for (std::size_t i = 0; i < to_.work.count(); ++i) {
      const std::uint32_t step = to_.work.step[i];
      if (step == kNone) continue;
      ++to_.steps[step].kernels;
      if (to_.steps[step].regular)
        lengths[to_.work.kind[i]].push_back(
            static_cast<double>(to_.work.end[i] - to_.work.start[i]));
    }
    for (std::size_t kind = 0; kind < lengths.size(); ++kind) {
      if (lengths[kind].empty()) continue;
      KernelFacts facts;
      facts.name = called_[kind];
      facts.count = static_cast<std::int64_t>(lengths[kind].size());
      for (const double length : lengths[kind]) facts.total_ns += static_cast<TimeNs>(length);
      facts.median_ns = std::llround(Median(std::move(lengths[kind])));
      to_.kernels.push_back(std::move(facts));
    }
    std::stable_sort(to_.kernels.begin(), to_.kernels.end(),
                     [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  }

  std::vector<TimelineRow> rows_;
  const TimelineTexts& texts_;
  RankSummary& to_;
  std::vector<std::string>& notes_;
  std::map<std::int64_t, std::uint32_t> index_of_;  // of steps
  std::vector<std::string> called_;                 // as RankSummary::work_kinds
  Intervals compute_, communication_;
  std::array<Intervals, kIdleCauses> host_;
  std::map<std::uint64_t, GroupOperations> groups_;  // by hash
  // By function and bytes, the index into RankSummary::kinds.
  std::map<std::pair<std::string_view, std::int64_t>, std::uint32_t> kind_of_;
};

}  // namespace

void SummarizeTimeline(std::vector<TimelineRow> rows, const TimelineTexts& texts,
                       std::int64_t base_ns, RankSummary& to, std::vector<std::string>& notes) {
  if (rows.empty()) return;
  TimelineSummary(std::move(rows), texts, base_ns, to, notes).Summarize();
}

}  // namespace traceinject
