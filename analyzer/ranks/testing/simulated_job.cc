// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/testing/simulated_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analyzer/model/intervals.h"
#include "analyzer/ranks/testing/simulated_engine.h"

namespace traceinject {
namespace {

// What a draw is for: the first part of its place. The engine's are small numbers.
enum JobDraw : std::uint64_t { kOffset = 100, kDrift, kMissing, kClock };

constexpr double kFullClockMhz = 1980;
constexpr TimeNs kWatchdogNs = 10'000'000'000;  // until the others of a dead rank are ended

// Turns what one rank did into its summary.
class Summarizer {
 public:
  Summarizer(const JobPlan& plan, const SimulatedLayout& layout, const SimulatedPrograms& programs,
             const Chance& chance, int rank, const PlayedRank& played, TimeNs job_end,
             RankTruth& truth)
      : plan_(plan),
        layout_(layout),
        programs_(programs),
        chance_(chance),
        rank_(static_cast<std::size_t>(rank)),
        played_(played),
        truth_(truth) {
    const bool hangs = plan.dead >= 0;
    summary_.rank = rank;
    recorded_ = {0, played.died ? played.end : job_end + (hangs ? kWatchdogNs : 0)};
    summary_.closed = !hangs;
    for (const RecordedPart& part : plan.parts) {
      if (part.rank != rank) continue;
      recorded_ = {static_cast<TimeNs>(part.from * static_cast<double>(job_end)),
                   static_cast<TimeNs>(part.to * static_cast<double>(job_end))};
    }
  }

  RankSummary Summarize() {
    Describe();
    AddGroups();
    AddSteps();
    AddKernels();
    if (!played_.died) AddHangs();
    return std::move(summary_);
  }

 private:
  TimeNs Local(TimeNs time) const {
    return time + static_cast<TimeNs>(
                      std::llround(truth_.offset_ns + truth_.drift * static_cast<double>(time)));
  }
  bool IsRecorded(Interval time) const {
    return time.start >= recorded_.start && time.end <= recorded_.end;
  }
  bool IsStraggler() const {
    return plan_.straggler >= 0 && static_cast<std::size_t>(plan_.straggler) == rank_;
  }

  void Describe() {
    const int host = summary_.rank / plan_.ranks_per_host;
    summary_.path = fmt::format("run.rank{:05}.db", summary_.rank);
    summary_.host = fmt::format("node{:03}", host);
    summary_.run_id = "simulated";
    summary_.gpu = "NVIDIA H100 80GB HBM3";
    summary_.world_size = plan_.ranks();
    summary_.local_rank = summary_.device = summary_.rank % plan_.ranks_per_host;
    summary_.pid = 1000 + summary_.rank;
    summary_.start = Local(recorded_.start);
    summary_.end = Local(recorded_.end);
    summary_.kinds = programs_.kinds;
    const double slow = IsStraggler() ? plan_.slow_compute : 1;
    summary_.busy_sm_clock_mhz = kFullClockMhz / slow + 5 * chance_.Signed({kClock, rank_});
    summary_.throttled_share = slow > 1 ? 0.9 : 0;
    const auto before = [&](TimeNs end) { return end < recorded_.start; };
    first_step_ = static_cast<int>(
        std::find_if_not(played_.step_ends.begin(), played_.step_ends.end(), before) -
        played_.step_ends.begin());
    // A step whose begin was not recorded is none.
    if (recorded_.start > 0) ++first_step_;
    for (const Interval& time : played_.compute) {
      const TimeNs start = std::max(time.start, recorded_.start),
                   end = std::min(time.end, recorded_.end);
      Append(compute_, {Local(start), std::max(Local(start), Local(end))});
    }
  }

  void AddGroups() {
    std::vector<std::pair<std::uint64_t, std::size_t>> by_hash;
    for (std::size_t kind = 0; kind < kCommunicatorKinds; ++kind) {
      const int communicator = layout_.of_rank[rank_][kind];
      if (communicator >= 0) by_hash.emplace_back(CommunicatorOf(kind).hash, kind);
    }
    std::sort(by_hash.begin(), by_hash.end());
    for (const auto& [hash, kind] : by_hash) AddGroup(kind);
  }
  const SimulatedCommunicator& CommunicatorOf(std::size_t kind) const {
    return layout_.communicators[static_cast<std::size_t>(layout_.of_rank[rank_][kind])];
  }
  void AddGroup(std::size_t kind) {
    const SimulatedCommunicator& communicator = CommunicatorOf(kind);
    GroupOperations group;
    group.hash = communicator.hash;
    group.size = static_cast<int>(communicator.ranks.size());
    group.rank = layout_.own_rank[rank_][kind];
    group.name = communicator.name;
    std::set<int> hosts;
    for (const int rank : communicator.ranks) hosts.insert(rank / plan_.ranks_per_host);
    group.nodes = static_cast<int>(hosts.size());
    GroupTruth truth;
    std::map<std::uint32_t, std::int64_t> numbers;  // of a kind's function so far
    const auto& operations = played_.operations[kind];
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const PlayedOperation& one = operations[i];
      const std::int64_t sequence = NextNumber(one.kind, numbers);
      if (!IsRecorded({one.start, one.end})) continue;
      if (chance_.Uniform({kMissing, rank_, kind, i}) < plan_.missing) {
        ++summary_.dropped;
        continue;
      }
      AddOperation(one, sequence, group, truth);
    }
    summary_.groups.push_back(std::move(group));
    truth_.groups.push_back(std::move(truth));
  }
  // They count per function; of exchanges NCCL tells none.
  std::int64_t NextNumber(std::uint32_t kind,
                          std::map<std::uint32_t, std::int64_t>& numbers) const {
    const std::string& function = programs_.kinds[kind].function;
    if (!plan_.tell_sequences || function.find("Send") != std::string::npos || function == "Recv")
      return -1;
    std::uint32_t first = 0;
    while (programs_.kinds[first].function != function) ++first;
    return numbers[first]++;
  }
  void AddOperation(const PlayedOperation& one, std::int64_t sequence, GroupOperations& group,
                    GroupTruth& truth) {
    const Interval time{Local(one.start), Local(one.end)};
    const TimeNs waited = Local(std::min(one.last_start, one.end));
    group.start.push_back(time.start);
    group.end.push_back(time.end);
    group.launch.push_back(Local(one.launch));
    group.exposed_ns.push_back(time.end - time.start - LengthInside(compute_, time));
    group.blocked_ns.push_back(FreeTail(compute_, time));
    group.kind.push_back(one.kind);
    group.peer.push_back(one.peer);
    group.sequence.push_back(sequence);
    const bool in_step = one.step >= first_step_ && StepIsRecorded(one.step);
    group.step.push_back(in_step ? static_cast<std::uint32_t>(std::max(one.step, 0) - first_step_)
                                 : kNone);
    truth.operation.push_back(one.number);
    truth.wait_ns.push_back(one.last_start - one.start);
    truth.exposed_wait_ns.push_back(waited - time.start -
                                    LengthInside(compute_, {time.start, waited}));
    truth.transfer_ns.push_back(one.transfer_ns);
    truth.last.push_back(one.last_start == one.start);
    communication_.push_back(time);
  }

  bool StepIsRecorded(int step) const {
    const auto at = static_cast<std::size_t>(std::max(step, 0));
    return at < played_.step_ends.size() && played_.step_ends[at] <= recorded_.end;
  }
  void AddSteps() {
    communication_ = Merge(std::move(communication_));
    const Intervals exposed = Subtract(communication_, compute_);
    Intervals busy = communication_;
    busy.insert(busy.end(), compute_.begin(), compute_.end());
    busy = Merge(std::move(busy));
    for (int step = first_step_; StepIsRecorded(step); ++step) {
      const auto at = static_cast<std::size_t>(step);
      StepFacts facts;
      facts.time = {Local(step == 0 ? 0 : played_.step_ends[at - 1]), Local(played_.step_ends[at])};
      facts.regular = step > 0;
      facts.compute_ns = LengthInside(compute_, facts.time);
      facts.exposed_communication_ns = LengthInside(exposed, facts.time);
      TimeNs rest = facts.time.end - facts.time.start - LengthInside(busy, facts.time);
      for (; idle_ < played_.idle.size() && Local(played_.idle[idle_].time.end) <= facts.time.end;
           ++idle_) {
        const Interval time{Local(played_.idle[idle_].time.start),
                            Local(played_.idle[idle_].time.end)};
        if (time.start < facts.time.start) continue;
        const TimeNs length = time.end - time.start - LengthInside(busy, time);
        facts.idle_ns[static_cast<std::size_t>(played_.idle[idle_].cause)] += length;
        rest -= length;
      }
      facts.idle_ns[static_cast<std::size_t>(IdleCause::kCommunication)] += rest;
      summary_.steps.push_back(facts);
    }
    for (const PlayedKernels& one : played_.kernels) {
      if (one.step >= first_step_ && StepIsRecorded(one.step))
        summary_.steps[static_cast<std::size_t>(one.step - first_step_)].kernels += one.count;
    }
  }

  void AddKernels() {
    for (std::size_t kernel = 0; kernel < kSimulatedKernels.size(); ++kernel) {
      std::vector<std::pair<TimeNs, std::int64_t>> lengths;  // and how many of them
      KernelFacts facts;
      facts.name = kSimulatedKernels[kernel].name;
      for (const PlayedKernels& one : played_.kernels) {
        if (static_cast<std::size_t>(one.kernel) != kernel || one.step < std::max(first_step_, 1) ||
            !StepIsRecorded(one.step))
          continue;
        lengths.emplace_back(one.each_ns, one.count);
        facts.count += one.count;
        facts.total_ns += one.each_ns * one.count;
      }
      if (facts.count == 0) continue;
      std::sort(lengths.begin(), lengths.end());
      std::int64_t seen = 0;
      for (const auto& [length, count] : lengths) {
        facts.median_ns = length;
        if ((seen += count) * 2 >= facts.count) break;
      }
      summary_.kernels.push_back(std::move(facts));
    }
    std::sort(summary_.kernels.begin(), summary_.kernels.end(),
              [](const KernelFacts& a, const KernelFacts& b) { return a.total_ns > b.total_ns; });
  }

  void AddHangs() {
    for (const PlayedHang& one : played_.hung) {
      const OperationKind& kind = programs_.kinds[one.kind];
      summary_.hung.push_back({CommunicatorOf(static_cast<std::size_t>(one.communicator)).hash,
                               kind.function, kind.bytes, -1, Local(one.launch)});
    }
  }

  const JobPlan& plan_;
  const SimulatedLayout& layout_;
  const SimulatedPrograms& programs_;
  const Chance& chance_;
  std::size_t rank_;
  const PlayedRank& played_;
  RankTruth& truth_;
  RankSummary summary_;
  Interval recorded_;
  int first_step_ = 0;
  Intervals compute_, communication_;  // on its own clock
  std::size_t idle_ = 0;               // the next of played_.idle
};

std::vector<TimeNs> StepEnds(const std::vector<PlayedRank>& played) {
  std::vector<TimeNs> ends;
  for (std::size_t step = 0;; ++step) {
    TimeNs last = 0;
    for (const PlayedRank& one : played) {
      if (step >= one.step_ends.size()) return ends;
      last = std::max(last, one.step_ends[step]);
    }
    ends.push_back(last);
  }
}

}  // namespace

JobPlan Disturbed(JobPlan plan) {
  plan.most_offset_ns = 2'000'000'000;
  plan.most_drift_ppm = 50;
  plan.missing = 0.001;
  return plan;
}

JobPlan DisturbedLayout(int tensor, int data, int pipeline, int ranks_per_host) {
  JobPlan plan;
  plan.tensor = tensor;
  plan.data = data;
  plan.pipeline = pipeline;
  plan.ranks_per_host = ranks_per_host;
  return Disturbed(plan);
}

JobPlan Healthy(JobPlan plan) {
  const JobPlan defaults;
  plan.straggler = plan.contended = plan.dead = -1;
  plan.slow_compute = plan.more_work = 1;
  plan.data_wait_ns = plan.contention_ns = 0;
  plan.imbalance = 0;
  plan.slow_link = defaults.slow_link;
  plan.slow_spells.clear();
  plan.stage_work.clear();
  return plan;
}

TimeNs JobTruth::LocalTime(std::size_t rank, double true_time) const {
  const RankTruth& clock = ranks[rank];
  return static_cast<TimeNs>(std::llround(true_time + clock.offset_ns + clock.drift * true_time));
}

double JobTruth::step_ns() const {
  if (step_ends.size() < 2) return 0;
  return static_cast<double>(step_ends.back() - step_ends.front()) /
         static_cast<double>(step_ends.size() - 1);
}

SimulatedJob SimulateJob(const JobPlan& plan, std::uint64_t seed) {
  const Chance chance(seed);
  const SimulatedLayout layout = LayOut(plan);
  const SimulatedPrograms programs = WritePrograms(plan);
  std::vector<PlayedRank> played = Play(plan, layout, programs, chance);
  SimulatedJob simulated;
  simulated.job.base_ns = 1'780'000'000'000'000'000;
  simulated.truth.step_ends = StepEnds(played);
  simulated.truth.ranks.resize(played.size());
  TimeNs job_end = 0;
  for (const PlayedRank& one : played) job_end = std::max(job_end, one.end);
  for (std::size_t rank = 0; rank < played.size(); ++rank) {
    const std::uint64_t host = rank / static_cast<std::size_t>(plan.ranks_per_host);
    RankTruth& truth = simulated.truth.ranks[rank];
    truth.offset_ns = static_cast<double>(plan.most_offset_ns) * chance.Signed({kOffset, host});
    truth.drift = plan.most_drift_ppm * 1e-6 * chance.Signed({kDrift, host});
    simulated.job.ranks.push_back(Summarizer(plan, layout, programs, chance, static_cast<int>(rank),
                                             played[rank], job_end, truth)
                                      .Summarize());
    played[rank] = {};
  }
  return simulated;
}

}  // namespace traceinject
