// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/testing/timeline_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/ranks/testing/simulated_chance.h"

namespace traceinject {
namespace {

constexpr std::int64_t kActivationBytes = 32 << 20, kGradientBytes = 512 << 20;

// What is drawn, so that each has chances of its own.
enum class TimelineDraw : std::uint64_t {
  kForward,
  kBackward,
  kDown,
  kUp,
  kReduce,
  kOptimizer,
  kLength,
  kGap,
  kClock
};

double Uniform(const Chance& chance, TimelineDraw what, int step, int rank, int number) {
  return chance.Uniform({static_cast<std::uint64_t>(what), static_cast<std::uint64_t>(step),
                         static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(number)});
}
double Bell(const Chance& chance, TimelineDraw what, int step, int rank, int number) {
  return chance.Bell({static_cast<std::uint64_t>(what), static_cast<std::uint64_t>(step),
                      static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(number)});
}

struct PassInstruction {
  enum class Kind : std::uint8_t { kForward, kBackward, kRecvDown, kRecvUp, kReduce, kOptimizer };
  Kind kind = Kind::kForward;
  int micro_batch = -1;
};

// Of a rank in each step.
std::vector<PassInstruction> ProgramOf(const TimelinePlan& plan, int stage) {
  std::vector<PassInstruction> program;
  const auto forward = [&](int m) {
    if (stage > 0) program.push_back({PassInstruction::Kind::kRecvDown, m});
    program.push_back({PassInstruction::Kind::kForward, m});
  };
  const auto backward = [&](int m) {
    if (stage + 1 < plan.stages) program.push_back({PassInstruction::Kind::kRecvUp, m});
    program.push_back({PassInstruction::Kind::kBackward, m});
  };
  const int ahead =
      plan.gpipe ? plan.micro_batches : std::min(plan.stages - stage - 1, plan.micro_batches);
  for (int m = 0; m < ahead; ++m) forward(m);
  for (int m = ahead; m < plan.micro_batches; ++m) {
    forward(m);
    backward(m - ahead);
  }
  for (int m = plan.micro_batches - ahead; m < plan.micro_batches; ++m) backward(m);
  if (plan.data > 1) program.push_back({PassInstruction::Kind::kReduce});
  program.push_back({PassInstruction::Kind::kOptimizer});
  return program;
}

class TimelinePlayer {
 public:
  TimelinePlayer(const TimelinePlan& plan, const TimelineDurations& durations, std::uint64_t seed,
                 bool keep_spans)
      : plan_(plan), durations_(durations), chance_(seed), keep_spans_(keep_spans) {
    for (int stage = 0; stage < plan.stages; ++stage) programs_.push_back(ProgramOf(plan, stage));
  }

  PlayedTimeline Play() {
    PlayedTimeline played;
    std::vector<double> now(Count(plan_.ranks())), ends;
    for (step_ = 0; step_ < plan_.steps; ++step_) {
      PlayStep(now, played);
      double sum = 0;
      for (const double time : now) sum += time;
      ends.push_back(sum / static_cast<double>(plan_.ranks()));
    }
    played.step_ns = (ends.back() - ends.front()) / static_cast<double>(ends.size() - 1);
    return played;
  }

 private:
  static std::size_t Count(int number) { return static_cast<std::size_t>(number); }

  // Transfers of one step between a rank and that of the next stage, one way.
  struct Way {
    std::vector<std::optional<double>> sent;  // by micro-batch: when the sender was ready
    double free = 0;                          // when the one before had arrived
  };

  double Of(const std::vector<std::vector<std::vector<double>>>& of, int rank, int m) const {
    return of[Count(step_)][Count(rank)][Count(m)];
  }

  void PlayStep(std::vector<double>& now, PlayedTimeline& played) {
    std::vector<std::size_t> next(now.size());
    const Way none{std::vector<std::optional<double>>(Count(plan_.micro_batches)), 0};
    down_.assign(now.size(), none);
    up_.assign(now.size(), none);
    std::vector<std::vector<double>> came(Count(plan_.stages));
    std::vector<bool> is_there(now.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (int rank = 0; rank < plan_.ranks(); ++rank) {
        const std::vector<PassInstruction>& program = programs_[Count(plan_.Stage(rank))];
        while (next[Count(rank)] < program.size()) {
          const PassInstruction& one = program[next[Count(rank)]];
          if (one.kind == PassInstruction::Kind::kReduce) {
            if (!Reduce(rank, came, is_there, now, played)) break;
          } else if (!Do(rank, one, now[Count(rank)], played)) {
            break;
          }
          ++next[Count(rank)];
          moved = true;
        }
      }
    }
  }

  double Gap(int rank, const PassInstruction& one) const {
    return static_cast<double>(plan_.most_gap_ns) *
           Uniform(chance_, TimelineDraw::kGap, step_, rank,
                   (one.micro_batch + 1) * 16 + static_cast<int>(one.kind));
  }

  // False: it cannot go on yet.
  bool Do(int rank, const PassInstruction& one, double& now, PlayedTimeline& played) {
    const int m = one.micro_batch;
    switch (one.kind) {
      case PassInstruction::Kind::kForward:
        Compute(rank, "forward", one, Of(durations_.forward, rank, m), now, played);
        if (plan_.Stage(rank) + 1 < plan_.stages) down_[Count(rank)].sent[Count(m)] = now;
        return true;
      case PassInstruction::Kind::kBackward:
        Compute(rank, "backward", one, Of(durations_.backward, rank, m), now, played);
        if (plan_.Stage(rank) > 0) up_[Count(rank - plan_.data)].sent[Count(m)] = now;
        return true;
      case PassInstruction::Kind::kRecvDown:
        return Receive(rank, rank - plan_.data, m, down_[Count(rank - plan_.data)],
                       Of(durations_.down, rank - plan_.data, m), now, played);
      case PassInstruction::Kind::kRecvUp:
        return Receive(rank, rank + plan_.data, m, up_[Count(rank)], Of(durations_.up, rank, m),
                       now, played);
      case PassInstruction::Kind::kOptimizer:
        Compute(rank, "optimizer", one, durations_.optimizer[Count(step_)][Count(rank)], now,
                played);
        return true;
      default:
        return true;
    }
  }

  void Compute(int rank, const char* kind, const PassInstruction& one, double length, double& now,
               PlayedTimeline& played) {
    const double start = now + Gap(rank, one);
    now = start + length;
    Add({rank, kind, one.micro_batch, -1, -1, step_, -1, std::llround(start), std::llround(now)},
        played);
  }

  bool Receive(int rank, int from, int m, Way& way, double length, double& now,
               PlayedTimeline& played) {
    if (!way.sent[Count(m)]) return false;
    const double sent = *way.sent[Count(m)];
    const double end = std::max({sent, now, way.free}) + length;
    Add({from, "send", m, rank, -1, step_, kActivationBytes, std::llround(sent), std::llround(end)},
        played);
    Add({rank, "recv", m, from, -1, step_, kActivationBytes, std::llround(now), std::llround(end)},
        played);
    way.free = now = end;
    return true;
  }

  // All ranks of a stage go on once the last of them has come.
  bool Reduce(int rank, std::vector<std::vector<double>>& came, std::vector<bool>& is_there,
              std::vector<double>& now, PlayedTimeline& played) {
    const int stage = plan_.Stage(rank);
    std::vector<double>& at = came[Count(stage)];
    if (!is_there[Count(rank)]) {
      is_there[Count(rank)] = true;
      at.push_back(now[Count(rank)]);
    }
    if (at.size() < Count(plan_.data)) return false;
    const double end =
        *std::max_element(at.begin(), at.end()) + durations_.reduce[Count(step_)][Count(stage)];
    Add({rank, "all-reduce", -1, -1, stage, step_, kGradientBytes, std::llround(now[Count(rank)]),
         std::llround(end)},
        played);
    now[Count(rank)] = end;
    return true;
  }

  void Add(TimelineSpan span, PlayedTimeline& played) const {
    if (keep_spans_) played.spans.push_back(std::move(span));
  }

  const TimelinePlan& plan_;
  const TimelineDurations& durations_;
  Chance chance_;
  bool keep_spans_;
  std::vector<std::vector<PassInstruction>> programs_;  // by stage
  std::vector<Way> down_, up_;                          // by the rank of the earlier stage
  int step_ = 0;
};

// Calls use(value) for each of these ranks in a step.
template <typename Use>
void ForEachOf(std::vector<std::vector<double>>& step, std::size_t first, std::size_t count,
               Use use) {
  for (std::size_t rank = first; rank < first + count; ++rank) {
    for (double& value : step[rank]) use(value);
  }
}

// Ranks [first, first + count) take their mean of the step.
void Even(std::vector<std::vector<double>>& step, std::size_t first, std::size_t count) {
  double sum = 0, number = 0;
  ForEachOf(step, first, count, [&](double value) { sum += value, ++number; });
  ForEachOf(step, first, count, [&](double& value) { value = sum / number; });
}

// All of all steps take their mean.
template <typename List>
void EvenAll(std::vector<List*> lists) {
  double sum = 0, number = 0;
  for (const List* list : lists) {
    for (const double value : *list) {
      if (value > 0) sum += value, ++number;
    }
  }
  for (List* list : lists) {
    for (double& value : *list) value = value > 0 ? sum / number : value;
  }
}

}  // namespace

TimelineDurations DrawDurations(const TimelinePlan& plan, std::uint64_t seed) {
  const Chance chance(seed);
  const auto noisy = [&](double ns, double noise, TimelineDraw what, int step, int rank, int m) {
    return ns * std::exp(noise * Bell(chance, what, step, rank, m));
  };
  TimelineDurations to;
  const auto micro_batches = static_cast<std::size_t>(plan.micro_batches);
  for (int step = 0; step < plan.steps; ++step) {
    std::vector<std::vector<double>> forward, backward, down, up;
    std::vector<double> reduce, optimizer;
    for (int rank = 0; rank < plan.ranks(); ++rank) {
      const int stage = plan.Stage(rank), replica = rank % plan.data;
      double factor =
          plan.stage_work.empty() ? 1 : plan.stage_work[static_cast<std::size_t>(stage)];
      if (rank == plan.slow_rank) factor *= plan.slow_factor;
      const bool slow_link = rank == plan.slow_link && !plan.slow_reduce;
      for (auto* list : {&forward, &backward, &down, &up}) list->emplace_back(micro_batches);
      for (int m = 0; m < plan.micro_batches; ++m) {
        const auto at = static_cast<std::size_t>(m);
        // The sequences of a micro-batch are the same on all stages.
        const double spread = plan.length_spread;
        const double length = std::exp(
            spread * Bell(chance, TimelineDraw::kLength, step, replica, m) - spread * spread / 2);
        const double ns = static_cast<double>(plan.forward_ns) * factor * length;
        forward.back()[at] = noisy(ns, plan.noise, TimelineDraw::kForward, step, rank, m);
        backward.back()[at] = noisy(2 * ns, plan.noise, TimelineDraw::kBackward, step, rank, m);
        if (stage + 1 == plan.stages) continue;
        const double moves =
            static_cast<double>(plan.transfer_ns) * (slow_link ? plan.link_factor : 1);
        down.back()[at] = noisy(moves, plan.transfer_noise, TimelineDraw::kDown, step, rank, m);
        up.back()[at] = noisy(moves, plan.transfer_noise, TimelineDraw::kUp, step, rank, m);
      }
      optimizer.push_back(noisy(
          static_cast<double>(plan.optimizer_ns) * (rank == plan.slow_rank ? plan.slow_factor : 1),
          plan.noise, TimelineDraw::kOptimizer, step, rank, 0));
    }
    for (int stage = 0; stage < plan.stages; ++stage) {
      const bool slow =
          plan.slow_reduce && plan.slow_link >= 0 && plan.Stage(plan.slow_link) == stage;
      reduce.push_back(noisy(static_cast<double>(plan.reduce_ns) * (slow ? plan.link_factor : 1),
                             plan.transfer_noise, TimelineDraw::kReduce, step, stage, 0));
    }
    to.forward.push_back(std::move(forward));
    to.backward.push_back(std::move(backward));
    to.down.push_back(std::move(down));
    to.up.push_back(std::move(up));
    to.reduce.push_back(std::move(reduce));
    to.optimizer.push_back(std::move(optimizer));
  }
  return to;
}

TimelineDurations Changed(TimelineDurations durations, WhatIf what_if) {
  const std::size_t stages = durations.reduce.front().size();
  for (auto* passes : {&durations.forward, &durations.backward}) {
    for (std::vector<std::vector<double>>& step : *passes) {
      if (what_if == WhatIf::kEvenAll) {
        Even(step, 0, step.size());
        continue;
      }
      const std::size_t data = step.size() / stages;
      for (std::size_t first = 0; first < step.size(); first += data) Even(step, first, data);
    }
  }
  if (what_if != WhatIf::kEvenAll) return durations;
  for (std::vector<double>& step : durations.optimizer) EvenAll<std::vector<double>>({&step});
  std::vector<std::vector<double>*> moves, reduces;
  for (auto* way : {&durations.down, &durations.up}) {
    for (auto& step : *way) {
      for (std::vector<double>& of_rank : step) moves.push_back(&of_rank);
    }
  }
  for (std::vector<double>& step : durations.reduce) reduces.push_back(&step);
  EvenAll(std::move(moves));
  EvenAll(std::move(reduces));
  return durations;
}

PlayedTimeline PlayTimeline(const TimelinePlan& plan, const TimelineDurations& durations,
                            std::uint64_t seed, bool keep_spans) {
  return TimelinePlayer(plan, durations, seed, keep_spans).Play();
}

std::string WriteTimeline(const TimelinePlan& plan, const PlayedTimeline& played,
                          std::uint64_t seed) {
  const Chance chance(seed);
  std::string text = "{\"job_timeline\": 1, \"time_unit\": \"ns\"}\n";
  const auto out = std::back_inserter(text);
  for (const TimelineSpan& span : played.spans) {
    const int host = span.rank / plan.ranks_per_host;
    const TimeNs offset = std::llround(static_cast<double>(plan.most_offset_ns) *
                                       Uniform(chance, TimelineDraw::kClock, host, 0, 0));
    fmt::format_to(out,
                   "{{\"rank\": {}, \"stage\": {}, \"host\": \"node{}\", \"step\": {}, \"kind\": "
                   "\"{}\", \"start\": {}, \"end\": {}",
                   span.rank, plan.Stage(span.rank), host, span.step, span.kind,
                   span.start + offset, span.end + offset);
    if (span.micro_batch >= 0) fmt::format_to(out, ", \"micro_batch\": {}", span.micro_batch);
    if (span.peer >= 0) fmt::format_to(out, ", \"peer\": {}", span.peer);
    if (span.stage_group >= 0)
      fmt::format_to(out, ", \"group\": \"data of stage {}\"", span.stage_group);
    if (span.bytes >= 0) fmt::format_to(out, ", \"bytes\": {}", span.bytes);
    text += "}\n";
  }
  return text;
}

}  // namespace traceinject
