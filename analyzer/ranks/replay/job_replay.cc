// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/replay/job_replay.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace traceinject {
namespace {

// From the end of an operation to the start of the next that queued behind it.
constexpr TimeNs kQueuedNs = 20'000;
// Shorter times block nobody: the way from one kernel to the next.
constexpr TimeNs kMinBlockedNs = 1'000;

// The steps that all numbered ranks have.
std::pair<std::size_t, std::size_t> CommonSteps(const Job& job, const JobSteps& steps) {
  std::size_t from = 0, to = steps.count;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (!steps.first[r]) continue;
    from = std::max(from, *steps.first[r]);
    to = std::min(to, *steps.first[r] + job.ranks[r].steps.size());
  }
  return {from, std::max(from, to)};
}

}  // namespace

// Puts the operations of the groups on the lines of the ranks.
class LineBuilder {
 public:
  LineBuilder(const Job& job, const std::vector<MatchedGroup>& groups, const JobSteps& steps,
              const std::vector<OwnTime>& own, const WorkPieces& pieces, JobReplay& to)
      : job_(job), groups_(groups), steps_(steps), own_(own), pieces_(pieces), to_(to) {}

  void Build() {
    to_.lines_.resize(job_.ranks.size());
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) AddSteps(r);
    for (std::size_t g = 0; g < groups_.size(); ++g) AddGroup(g);
    AddUnmatched();
    if (!pieces_.empty()) AddPieces();
    for (JobReplay::Line& line : to_.lines_) {
      std::sort(line.events.begin(), line.events.end(), [](const auto& a, const auto& b) {
        return std::tie(a.own, a.wall, a.kind) < std::tie(b.own, b.wall, b.kind);
      });
    }
    LinkSuccessors();
  }

 private:
  // One rank's place in a group, while its operations are added in order.
  struct Seat {
    const GroupOperations* rows = nullptr;
    std::size_t summary = 0;
    std::uint32_t last = kNone;  // the operation added before
    TimeNs last_end = std::numeric_limits<TimeNs>::min();
    TimeNs last_ready = 0;  // own time
  };

  void AddSteps(std::size_t r) {
    JobReplay::Line& line = to_.lines_[r];
    for (std::size_t step = to_.played_from_; step < to_.end_step_; ++step) {
      const StepFacts* const facts = steps_.Find(job_, r, step);
      if (facts == nullptr) return;
      if (step == to_.played_from_) line.start = own_[r].At(facts->time.start);
      line.events.push_back({own_[r].At(facts->time.end), facts->time.end,
                             static_cast<std::uint32_t>(step), JobReplay::EventKind::kStepEnd});
    }
    line.used = !line.events.empty();
  }

  // A piece begins after what happened at its start, and ends before what happens at its end.
  void AddPieces() {
    for (std::size_t r = 0; r < to_.lines_.size(); ++r) {
      if (!to_.lines_[r].used) continue;
      const std::vector<WorkPiece>& pieces = pieces_.of_ranks()[r];
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        const WorkPiece& piece = pieces[i];
        if (piece.step < to_.played_from_ || piece.step >= to_.end_step_) continue;
        AddPiece(r, piece.start, static_cast<std::uint32_t>(i));
        if (i + 1 == pieces.size() || pieces[i + 1].start > piece.end)
          AddPiece(r, piece.end, kNone);
      }
    }
  }
  void AddPiece(std::size_t r, TimeNs own, std::uint32_t piece) {
    to_.lines_[r].events.push_back(
        {own, std::numeric_limits<TimeNs>::max(), piece, JobReplay::EventKind::kPiece});
  }

  // Step of the job in which a row begins on that rank; empty: outside the played ones.
  std::optional<std::size_t> PlayedStep(const Seat& seat, std::uint32_t row) const {
    const std::uint32_t own = seat.rows->step[row];
    if (own == kNone || !steps_.first[seat.summary]) return std::nullopt;
    const std::size_t step = *steps_.first[seat.summary] + own;
    if (step < to_.played_from_ || step >= to_.end_step_) return std::nullopt;
    return step;
  }

  double Work(const Seat& seat, std::size_t step) const {
    const StepFacts* const facts = steps_.Find(job_, seat.summary, step);
    return facts == nullptr ? 0 : static_cast<double>(own_[seat.summary].Between(facts->time));
  }

  void AddGroup(std::size_t g) {
    const MatchedGroup& group = groups_[g];
    std::vector<Seat> seats;
    for (const GroupMember& member : group.members)
      seats.push_back({&job_.ranks[member.summary].groups[member.group], member.summary});
    for (std::size_t op = 0; op < group.operations; ++op)
      AddOperation(g, group.rows.data() + op * seats.size(), seats);
  }

  // Operations of which no other rank's part was found take as long as they did.
  void AddUnmatched() {
    std::vector<std::vector<std::vector<bool>>> matched(job_.ranks.size());
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      for (const GroupOperations& group : job_.ranks[r].groups)
        matched[r].emplace_back(group.count());
    }
    for (const MatchedGroup& group : groups_) {
      for (std::size_t i = 0; i < group.rows.size(); ++i) {
        const GroupMember& member = group.members[i % group.members.size()];
        if (group.rows[i] != kNone) matched[member.summary][member.group][group.rows[i]] = true;
      }
    }
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      if (!to_.lines_[r].used) continue;
      for (std::size_t g = 0; g < matched[r].size(); ++g) {
        Seat seat{&job_.ranks[r].groups[g], r};
        for (std::uint32_t row = 0; row < matched[r][g].size(); ++row) {
          if (matched[r][g][row] || !PlayedStep(seat, row)) continue;
          const auto id = static_cast<std::uint32_t>(to_.operations_.size());
          to_.operations_.push_back({seat.rows->end[row] - seat.rows->start[row], kNone, 1});
          AddRow(id, seat, row, 0);
        }
      }
    }
  }

  // One that begins before the end of the one before did not wait to be shown as begun.
  static bool Queued(const Seat& seat, std::uint32_t row) {
    if (seat.last == kNone) return false;
    const TimeNs after = seat.rows->start[row] - seat.last_end;
    return after >= 0 && after < kQueuedNs;
  }

  void AddOperation(std::size_t g, const std::uint32_t* rows, std::vector<Seat>& seats) {
    std::size_t last = seats.size();  // to come
    TimeNs transfer = 0;
    std::uint32_t members = 0;
    std::optional<std::size_t> step;
    for (std::size_t m = 0; m < seats.size(); ++m) {
      if (rows[m] == kNone || !to_.lines_[seats[m].summary].used) continue;
      if (!step) step = PlayedStep(seats[m], rows[m]);
      if (!step) return;
      const TimeNs length = seats[m].rows->end[rows[m]] - seats[m].rows->start[rows[m]];
      if (last == seats.size() || length < transfer) {
        last = m;
        transfer = length;
      }
      ++members;
    }
    if (!step) return;
    const auto id = static_cast<std::uint32_t>(to_.operations_.size());
    to_.operations_.push_back({transfer, static_cast<std::uint32_t>(g), members});
    // How long after the one before it the last rank was ready, for those that had to queue.
    std::optional<double> after;
    double last_work = 0;
    if (Seat& seat = seats[last]; seat.last != kNone && !Queued(seat, rows[last])) {
      after = static_cast<double>(own_[seat.summary].At(seat.rows->start[rows[last]]) -
                                  seat.last_ready);
      last_work = Work(seat, *step);
    }
    for (std::size_t m = 0; m < seats.size(); ++m) {
      if (rows[m] == kNone || !to_.lines_[seats[m].summary].used) continue;
      double scaled = 0;
      if (after && Queued(seats[m], rows[m]) && last_work > 0)
        scaled = *after * Work(seats[m], *step) / last_work;
      AddRow(id, seats[m], rows[m], scaled);
    }
  }

  void AddRow(std::uint32_t id, Seat& seat, std::uint32_t row, double after) {
    const OwnTime& own = own_[seat.summary];
    const GroupOperations& rows = *seat.rows;
    const TimeNs start = rows.start[row], end = rows.end[row];
    TimeNs ready = own.At(start);
    if (Queued(seat, row)) {
      const TimeNs wanted = seat.last_ready + static_cast<TimeNs>(std::llround(after));
      ready = std::clamp(wanted, std::min(seat.last_ready, ready), ready);
    }
    std::vector<JobReplay::Event>& events = to_.lines_[seat.summary].events;
    events.push_back({ready, start, id, JobReplay::EventKind::kReady});
    if (rows.blocked_ns[row] >= kMinBlockedNs)
      events.push_back({own.At(end), end, id, JobReplay::EventKind::kBlocked});
    if (seat.last != kNone) follows_.emplace_back(seat.last, id);
    seat.last = id;
    seat.last_end = end;
    seat.last_ready = ready;
  }

  void LinkSuccessors() {
    std::sort(follows_.begin(), follows_.end());
    follows_.erase(std::unique(follows_.begin(), follows_.end()), follows_.end());
    to_.first_successor_.assign(to_.operations_.size() + 1, 0);
    for (const auto& [before, after] : follows_) {
      ++to_.first_successor_[before + 1];
      ++to_.operations_[after].comes;
      to_.successors_.push_back(after);
    }
    std::partial_sum(to_.first_successor_.begin(), to_.first_successor_.end(),
                     to_.first_successor_.begin());
  }

  const Job& job_;
  const std::vector<MatchedGroup>& groups_;
  const JobSteps& steps_;
  const std::vector<OwnTime>& own_;
  const WorkPieces& pieces_;
  JobReplay& to_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> follows_;
};

// One play: ranks run until they wait for an operation, operations end once all have come.
class JobPlayer {
 public:
  JobPlayer(const JobReplay& replay, const JobChange& change)
      : replay_(replay),
        change_(change),
        ranks_(replay.lines_.size()),
        next_waiting_(replay.lines_.size(), kNone),
        states_(replay.operations_.size()),
        sum_(replay.end_step_ - replay.played_from_),
        count_(sum_.size()) {
    for (std::size_t i = 0; i < states_.size(); ++i)
      states_[i].missing = replay.operations_[i].comes;
  }

  std::vector<double> Play() {
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (!replay_.lines_[r].used) continue;
      ranks_[r].own = replay_.lines_[r].start;
      SetStep(r, replay_.played_from_);
      runnable_.push_back(r);
    }
    Run();
    // Ranks that recorded the same operations in different orders wait for each other for ever: the
    // first operation that is waited for ends without those that did not come.
    while (const std::optional<std::uint32_t> stuck = FirstStuck()) {
      End(*stuck);
      Run();
    }
    std::vector<double> lengths;
    for (std::size_t i = replay_.first_step_ - replay_.played_from_; i < sum_.size(); ++i)
      lengths.push_back(count_[i] == 0 ? 0 : sum_[i] / static_cast<double>(count_[i]));
    return lengths;
  }

 private:
  struct RankState {
    std::size_t next = 0;  // event
    TimeNs own = 0;
    double wall = 0, step_start = 0;
    double step_factor = 1, piece_factor = 1;
    std::uint32_t waits_for = kNone;  // operation
  };
  struct OperationState {
    double last = 0;  // the latest moment at which a rank came, or the one before ended
    double end = 0;
    std::uint32_t missing = 0;
    std::uint32_t first_waiting = kNone;  // rank
    bool ended = false;
  };

  void SetStep(std::uint32_t r, std::size_t step) {
    if (change_.own) ranks_[r].step_factor = change_.own(r, step);
  }

  void Run() {
    while (!runnable_.empty()) {
      const std::uint32_t r = runnable_.back();
      runnable_.pop_back();
      RunRank(r);
    }
  }

  void RunRank(std::uint32_t r) {
    RankState& rank = ranks_[r];
    const std::vector<JobReplay::Event>& events = replay_.lines_[r].events;
    while (rank.next < events.size()) {
      const JobReplay::Event& event = events[rank.next];
      if (event.own > rank.own) {
        rank.wall +=
            static_cast<double>(event.own - rank.own) * rank.step_factor * rank.piece_factor;
        rank.own = event.own;
      }
      if (event.kind == JobReplay::EventKind::kBlocked && !states_[event.what].ended) {
        rank.waits_for = event.what;
        next_waiting_[r] = std::exchange(states_[event.what].first_waiting, r);
        return;
      }
      ++rank.next;
      switch (event.kind) {
        case JobReplay::EventKind::kReady:
          Come(event.what, rank.wall);
          break;
        case JobReplay::EventKind::kBlocked:
          rank.wall = std::max(rank.wall, states_[event.what].end);
          break;
        case JobReplay::EventKind::kPiece:
          if (change_.piece)
            rank.piece_factor = event.what == kNone ? 1 : change_.piece(r, event.what);
          break;
        case JobReplay::EventKind::kStepEnd:
          EndStep(r, event.what);
          break;
      }
    }
  }

  void EndStep(std::uint32_t r, std::size_t step) {
    const std::size_t at = step - replay_.played_from_;
    sum_[at] += ranks_[r].wall - ranks_[r].step_start;
    ++count_[at];
    ranks_[r].step_start = ranks_[r].wall;
    if (step + 1 < replay_.end_step_) SetStep(r, step + 1);
  }

  void Come(std::uint32_t operation, double when) {
    OperationState& state = states_[operation];
    if (state.ended) return;
    state.last = std::max(state.last, when);
    if (--state.missing == 0) End(operation);
  }

  // Without recursion: an operation's end can be what the next was missing, and so on.
  void End(std::uint32_t operation) {
    ending_.push_back(operation);
    while (!ending_.empty()) {
      const std::uint32_t id = ending_.back();
      ending_.pop_back();
      OperationState& state = states_[id];
      const JobReplay::Operation& known = replay_.operations_[id];
      const double factor =
          change_.transfer && known.group != kNone ? change_.transfer(known.group) : 1;
      state.end = state.last + static_cast<double>(known.transfer_ns) * factor;
      state.ended = true;
      for (std::uint32_t r = state.first_waiting; r != kNone; r = next_waiting_[r]) {
        ranks_[r].waits_for = kNone;
        runnable_.push_back(r);
      }
      for (std::uint32_t i = replay_.first_successor_[id]; i < replay_.first_successor_[id + 1];
           ++i) {
        OperationState& next = states_[replay_.successors_[i]];
        if (next.ended) continue;
        next.last = std::max(next.last, state.end);
        if (--next.missing == 0) ending_.push_back(replay_.successors_[i]);
      }
    }
  }

  std::optional<std::uint32_t> FirstStuck() const {
    std::optional<std::uint32_t> first;
    for (const RankState& rank : ranks_) {
      if (rank.waits_for != kNone && !states_[rank.waits_for].ended &&
          (!first || rank.waits_for < *first))
        first = rank.waits_for;
    }
    return first;
  }

  const JobReplay& replay_;
  const JobChange& change_;
  std::vector<RankState> ranks_;
  std::vector<std::uint32_t> next_waiting_;  // by rank: another that waits for the same operation
  std::vector<OperationState> states_;
  std::vector<std::uint32_t> runnable_, ending_;
  std::vector<double> sum_;
  std::vector<std::int64_t> count_;
};

JobReplay::JobReplay(const Job& job, const std::vector<MatchedGroup>& groups, const JobSteps& steps,
                     const std::vector<OwnTime>& own, const WorkPieces& pieces) {
  std::tie(played_from_, end_step_) = CommonSteps(job, steps);
  std::size_t rows = 0;
  for (const MatchedGroup& group : groups) rows += group.operations * group.members.size();
  if (rows > kMaxRows) {
    const double share = static_cast<double>(kMaxRows) / static_cast<double>(rows);
    end_step_ = played_from_ +
                static_cast<std::size_t>(share * static_cast<double>(end_step_ - played_from_));
  }
  first_step_ = std::min(played_from_ + 1, end_step_);
  if (empty()) return;
  LineBuilder(job, groups, steps, own, pieces, *this).Build();
  double recorded_sum = 0, played_sum = 0;
  for (std::size_t step = first_step_; step < end_step_; ++step) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t r = 0; r < job.ranks.size(); ++r) {
      const StepFacts* const facts = steps.Find(job, r, step);
      if (facts == nullptr) continue;
      sum += static_cast<double>(facts->time.end - facts->time.start);
      ++count;
    }
    recorded_.push_back(count == 0 ? 0 : sum / static_cast<double>(count));
    recorded_sum += recorded_.back();
  }
  unchanged_ = Play({});
  for (const double length : unchanged_) played_sum += length;
  error_ = recorded_sum > 0 ? std::abs(played_sum / recorded_sum - 1) : 0;
}

std::size_t JobReplay::rows() const {
  std::size_t rows = 0;
  for (const Line& line : lines_) rows += line.events.size();
  return rows;
}

std::vector<double> JobReplay::Play(const JobChange& change) const {
  if (empty()) return {};
  return JobPlayer(*this, change).Play();
}

}  // namespace traceinject
