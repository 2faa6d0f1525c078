// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/testing/simulated_engine.h"

#include <algorithm>
#include <cmath>
#include <deque>

namespace traceinject {
namespace {

// What a draw is for: the first part of its place.
enum Draw : std::uint64_t { kWork, kLatency, kTransfer, kEnd, kImbalance, kAhead };

constexpr TimeNs kLatencyNs = 10'000;  // of an operation without data
constexpr TimeNs kJoinNs = 2'000;      // from its end to the next kernel

TimeNs Scaled(TimeNs length, double factor) {
  return static_cast<TimeNs>(std::llround(static_cast<double>(length) * factor));
}

std::size_t Index(CommunicatorKind kind) { return static_cast<std::size_t>(kind); }

class Player {
 public:
  Player(const JobPlan& plan, const SimulatedLayout& layout, const SimulatedPrograms& programs,
         const Chance& chance)
      : plan_(plan), layout_(layout), programs_(programs), chance_(chance) {
    ranks_.resize(layout.of_rank.size());
    played_.resize(ranks_.size());
    for (const SimulatedCommunicator& one : layout.communicators)
      meetings_.emplace_back(one.kind == CommunicatorKind::kPipeline ? one.ranks.size() : 1);
  }

  std::vector<PlayedRank> Play() {
    for (std::size_t rank = ranks_.size(); rank-- > 0;) runnable_.push_back(rank);
    while (!runnable_.empty()) {
      const std::size_t rank = runnable_.back();
      runnable_.pop_back();
      Run(rank);
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) KeepWhatHangs(rank);
    return std::move(played_);
  }

 private:
  struct Pending {
    const Instruction* instruction = nullptr;
    TimeNs ready = 0, launch = 0, start = 0;
    int step = 0;
  };
  struct Stream {
    std::deque<Pending> queue;
    TimeNs free = 0;
    std::size_t step_base = 0;  // operations before the step
    bool arrived = false;       // the first of the queue has started
  };
  struct RankState {
    int step = -1;  // -1: before the first
    std::size_t at = 0;
    TimeNs now = 0;
    std::array<Stream, kCommunicatorKinds> streams;
    bool waiting = false, gone = false;
    CommunicatorKind awaited = CommunicatorKind::kData;
    std::size_t awaited_count = 0;  // of operations that must have ended
  };
  // Where the members of a communicator, or of a pair in it, come together.
  struct Meeting {
    std::vector<std::size_t> present;
    std::uint32_t number = 0;
  };

  const std::vector<Instruction>& Program(std::size_t rank) const {
    const auto stage = static_cast<std::size_t>(layout_.Stage(plan_, static_cast<int>(rank)));
    return ranks_[rank].step < 0 ? programs_.first[stage] : programs_.step[stage];
  }
  bool Is(int planned, std::size_t rank) const {
    return planned >= 0 && static_cast<std::size_t>(planned) == rank;
  }
  // Of work in a step, relative to the plan.
  double WorkOf(std::size_t rank, int step) const {
    double work = step <= 0 ? 2 : 1;
    if (Is(plan_.straggler, rank)) work *= plan_.more_work;
    const std::size_t replica =
        rank / static_cast<std::size_t>(plan_.tensor) % static_cast<std::size_t>(plan_.data);
    const std::uint64_t drawn = chance_.Bits({kImbalance, static_cast<std::uint64_t>(step)});
    if (plan_.imbalance > 0 && replica == drawn % static_cast<std::uint64_t>(plan_.data))
      work *= 1 + plan_.imbalance;
    return work;
  }

  // How many times as long kernels take.
  double SlownessOf(std::size_t rank, int step) const {
    double slow = Is(plan_.straggler, rank) ? plan_.slow_compute : 1;
    for (const PlannedSpell& spell : plan_.slow_spells) {
      if (Is(spell.rank, rank) && step >= spell.from_step && step < spell.to_step)
        slow *= spell.factor;
    }
    return slow;
  }

  void Run(std::size_t rank) {
    RankState& state = ranks_[rank];
    while (!state.gone) {
      const std::vector<Instruction>& program = Program(rank);
      if (state.at == program.size()) {
        if (!NextStep(rank)) return;
        continue;
      }
      if (Is(plan_.dead, rank) && state.step == plan_.dead_step && state.at == program.size() / 2) {
        return Die(rank);
      }
      if (!Execute(rank, program[state.at])) return;
      ++state.at;
    }
  }
  bool NextStep(std::size_t rank) {
    RankState& state = ranks_[rank];
    for (std::size_t kind = 0; kind < kCommunicatorKinds; ++kind)
      state.streams[kind].step_base = played_[rank].operations[kind].size();
    if (state.step >= 0) played_[rank].step_ends.push_back(state.now);
    played_[rank].end = state.now;
    state.at = 0;
    return ++state.step < plan_.steps;
  }
  // False: it has to wait.
  bool Execute(std::size_t rank, const Instruction& instruction) {
    switch (instruction.kind) {
      case Instruction::Kind::kIdle:
        Idle(rank, instruction);
        return true;
      case Instruction::Kind::kCompute:
        Compute(rank, instruction);
        return true;
      case Instruction::Kind::kIssue:
        Issue(rank, instruction);
        return true;
      case Instruction::Kind::kJoin:
        return Join(rank, instruction);
    }
    return true;
  }

  double WorkNoise(std::size_t rank) const {
    const RankState& state = ranks_[rank];
    return 1 + plan_.noise * chance_.Bell({kWork, rank, static_cast<std::uint64_t>(state.step + 1),
                                           state.at});
  }
  void AddIdle(std::size_t rank, TimeNs length, IdleCause cause) {
    if (length <= 0) return;
    TimeNs& now = ranks_[rank].now;
    played_[rank].idle.push_back({{now, now + length}, cause});
    now += length;
  }
  void Idle(std::size_t rank, const Instruction& instruction) {
    const double noise = WorkNoise(rank);
    if (Is(plan_.straggler, rank))
      AddIdle(rank, Scaled(plan_.data_wait_ns, noise), IdleCause::kDataWait);
    AddIdle(rank, Scaled(instruction.length_ns, noise), IdleCause::kPython);
  }
  void Compute(std::size_t rank, const Instruction& instruction) {
    RankState& state = ranks_[rank];
    const double work = WorkOf(rank, state.step);
    const TimeNs length =
        Scaled(instruction.length_ns, WorkNoise(rank) * work * SlownessOf(rank, state.step));
    const TimeNs each = kSimulatedKernels[static_cast<std::size_t>(instruction.kernel)].length_ns;
    const double kernels = static_cast<double>(instruction.length_ns) / static_cast<double>(each);
    const std::int64_t count = std::max<std::int64_t>(1, std::llround(kernels * work));
    played_[rank].kernels.push_back({instruction.kernel, state.step, count, length / count});
    Append(played_[rank].compute, {state.now, state.now + length});
    state.now += length;
  }
  void Issue(std::size_t rank, const Instruction& instruction) {
    RankState& state = ranks_[rank];
    const std::size_t kind = Index(instruction.communicator);
    Stream& stream = state.streams[kind];
    const double ahead = 1 + 0.3 * chance_.Signed({kAhead, rank, state.at,
                                                   static_cast<std::uint64_t>(state.step + 1)});
    const TimeNs launch = state.now - Scaled(plan_.launch_ahead_ns, ahead);
    stream.queue.push_back({&instruction, state.now, std::max<TimeNs>(launch, 0), 0, state.step});
    if (!stream.arrived) Arrive(rank, kind);
  }
  bool Join(std::size_t rank, const Instruction& instruction) {
    RankState& state = ranks_[rank];
    const std::size_t kind = Index(instruction.communicator);
    const std::size_t needed =
        state.streams[kind].step_base + static_cast<std::size_t>(instruction.number) + 1;
    const auto& ended = played_[rank].operations[kind];
    if (ended.size() < needed) {
      state.waiting = true;
      state.awaited = instruction.communicator;
      state.awaited_count = needed;
      return false;
    }
    state.now = std::max(state.now, ended[needed - 1].end + kJoinNs);
    return true;
  }

  // The first operation of the stream starts.
  void Arrive(std::size_t rank, std::size_t kind) {
    Stream& stream = ranks_[rank].streams[kind];
    Pending& head = stream.queue.front();
    const std::size_t count = played_[rank].operations[kind].size();
    head.start = std::max(head.ready, stream.free) + 1'000 +
                 Scaled(3'000, chance_.Uniform({kLatency, rank, kind, count}));
    if (Is(plan_.contended, rank) && kind == Index(CommunicatorKind::kData) && count % 8 == 3)
      head.start += plan_.contention_ns;
    stream.arrived = true;
    const int communicator = layout_.of_rank[rank][kind];
    Meeting& meeting = MeetingOf(rank, kind, *head.instruction);
    meeting.present.push_back(rank);
    const std::size_t expected =
        head.instruction->peer >= 0
            ? 2
            : layout_.communicators[static_cast<std::size_t>(communicator)].ranks.size();
    if (meeting.present.size() == expected) Complete(kind, communicator, meeting);
  }
  Meeting& MeetingOf(std::size_t rank, std::size_t kind, const Instruction& instruction) {
    auto& meetings = meetings_[static_cast<std::size_t>(layout_.of_rank[rank][kind])];
    if (instruction.peer < 0) return meetings.front();
    return meetings[static_cast<std::size_t>(
        std::min(instruction.peer, layout_.own_rank[rank][kind]))];
  }
  void Complete(std::size_t kind, int communicator, Meeting& meeting) {
    const std::vector<std::size_t> members = std::move(meeting.present);
    meeting.present.clear();
    const std::uint32_t number = meeting.number++;
    TimeNs last = 0, root = 0;
    for (const std::size_t rank : members) {
      const TimeNs start = ranks_[rank].streams[kind].queue.front().start;
      last = std::max(last, start);
      if (layout_.own_rank[rank][kind] == 0) root = start;
    }
    const Instruction& what = *ranks_[members[0]].streams[kind].queue.front().instruction;
    const bool from_root = programs_.kinds[what.operation].function == "Broadcast";
    const TimeNs transfer = TransferOf(communicator, what, number);
    for (const std::size_t rank : members) {
      Stream& stream = ranks_[rank].streams[kind];
      const Pending head = stream.queue.front();
      stream.queue.pop_front();
      stream.arrived = false;
      const TimeNs from = from_root ? std::max(head.start, root) : last;
      auto& ended = played_[rank].operations[kind];
      stream.free = from + transfer +
                    Scaled(plan_.end_noise_ns, chance_.Uniform({kEnd, rank, kind, ended.size()}));
      ended.push_back({head.start, stream.free, head.launch, from, transfer,
                       head.instruction->operation, number, head.instruction->peer, head.step});
    }
    for (const std::size_t rank : members) GoOn(rank, kind);
  }
  void GoOn(std::size_t rank, std::size_t kind) {
    RankState& state = ranks_[rank];
    if (state.waiting && Index(state.awaited) == kind &&
        played_[rank].operations[kind].size() >= state.awaited_count) {
      state.waiting = false;
      runnable_.push_back(rank);
    }
    if (!state.streams[kind].queue.empty() && !state.streams[kind].arrived) Arrive(rank, kind);
  }
  TimeNs TransferOf(int communicator, const Instruction& what, std::uint32_t number) const {
    const SimulatedCommunicator& one =
        layout_.communicators[static_cast<std::size_t>(communicator)];
    const std::array<double, kCommunicatorKinds> rates = {plan_.data_rate, plan_.tensor_rate,
                                                          plan_.pipeline_rate, plan_.tensor_rate};
    const double noise =
        1 + plan_.transfer_noise * chance_.Bell({kTransfer, one.hash, number,
                                                 static_cast<std::uint64_t>(what.peer + 1)});
    const double bytes = static_cast<double>(programs_.kinds[what.operation].bytes);
    const double moving = bytes / rates[Index(one.kind)] + static_cast<double>(kLatencyNs);
    return static_cast<TimeNs>(moving * noise * (IsSlow(one) ? plan_.slow_link.factor : 1));
  }
  bool IsSlow(const SimulatedCommunicator& one) const {
    const auto holds = [&](auto is) { return std::any_of(one.ranks.begin(), one.ranks.end(), is); };
    const SlowLink& link = plan_.slow_link;
    const auto on_host = [&](int host) {
      return holds([&](int rank) { return rank / plan_.ranks_per_host == host; });
    };
    if (link.rank >= 0) return holds([&](int rank) { return rank == link.rank; });
    return link.first_host >= 0 && on_host(link.first_host) && on_host(link.second);
  }

  // Kernels of the dead are gone, and nobody meets it again.
  void Die(std::size_t rank) {
    RankState& state = ranks_[rank];
    for (std::size_t kind = 0; kind < kCommunicatorKinds; ++kind) {
      Stream& stream = state.streams[kind];
      if (stream.arrived) {
        auto& present = MeetingOf(rank, kind, *stream.queue.front().instruction).present;
        present.erase(std::find(present.begin(), present.end(), rank));
      }
      stream.queue.clear();
      stream.arrived = false;
    }
    state.gone = played_[rank].died = true;
    played_[rank].end = state.now;
  }
  void KeepWhatHangs(std::size_t rank) {
    const RankState& state = ranks_[rank];
    PlayedRank& played = played_[rank];
    for (std::size_t kind = 0; kind < kCommunicatorKinds; ++kind) {
      for (const Pending& one : state.streams[kind].queue) {
        played.hung.push_back(
            {static_cast<CommunicatorKind>(kind), one.instruction->operation, one.launch});
      }
    }
    std::stable_sort(played.hung.begin(), played.hung.end(),
                     [](const PlayedHang& a, const PlayedHang& b) { return a.launch < b.launch; });
    played.end = std::max(played.end, state.now);
  }

  const JobPlan& plan_;
  const SimulatedLayout& layout_;
  const SimulatedPrograms& programs_;
  const Chance& chance_;
  std::vector<RankState> ranks_;
  std::vector<PlayedRank> played_;
  std::vector<std::vector<Meeting>> meetings_;  // per communicator
  std::vector<std::size_t> runnable_;
};

}  // namespace

std::vector<PlayedRank> Play(const JobPlan& plan, const SimulatedLayout& layout,
                             const SimulatedPrograms& programs, const Chance& chance) {
  return Player(plan, layout, programs, chance).Play();
}

}  // namespace traceinject
