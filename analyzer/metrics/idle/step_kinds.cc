// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/idle/step_kinds.h"

#include <algorithm>
#include <cmath>

#include "analyzer/metrics/idle/copies.h"
#include "analyzer/metrics/steps/window.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/kept_part.h"
#include "analyzer/model/name_patterns.h"

namespace traceinject {
namespace {

// Of what a step took longer than the median, what has to be explained.
constexpr double kExplained = 0.5;
// A validation pass does at least so much more forward work than a step of training.
constexpr double kMoreForward = 1.5;
// Training work that varies no more than this is that of one step.
constexpr double kAsMuchTraining = 1.25;
constexpr double kHardlyAny = 0.1;
// Weights are many more bytes than the numbers that steps usually fetch.
constexpr double kManyTimes = 4;
constexpr std::int64_t kManyBytes = std::int64_t{16} << 20;
// Steps of the recording within which it may still warm up.
constexpr std::size_t kFirstSteps = 10;

// What the operations of a step, or of a mean one, were.
struct Work {
  double kernels = 0;
  double training = 0;  // of these, of the backward pass or the optimizer
  double fetched_bytes = 0;
  double forward = 0;  // the others of names that regular steps have, too
  double foreign = 0;  // of names that no regular step has
};

// Fused multi-tensor kernels are the optimizer's, or unscale gradients for it.
bool TrainsByName(const Rank& rank, const KernelShape& shape) {
  return shape.kernel_class == KernelClass::kOptimizer ||
         shape.kernel_class == KernelClass::kAttentionBackward ||
         MatchesAny(rank.string(shape.name),
                    "ackward|_bwd|bwd_|dgrad|wgrad|GammaBeta|multi_tensor_apply");
}

// Names the steps of one device.
class Namer {
 public:
  Namer(const Rank& rank, const Device& device, const Steps& steps)
      : rank_(rank), ops_(device.ops), steps_(steps) {
    for (const KernelShape& shape : rank.shapes) trains_.push_back(TrainsByName(rank, shape));
    for (const Thread& thread : rank.threads)
      runs_backward_.push_back(thread.name.starts_with("pt_autograd"));
    HostSpansOf();
    MeasureRegular();
  }

  StepKind Of(std::size_t index) const {
    const Step& step = steps_.steps[index];
    if (step.regular()) return StepKind::kRegular;
    if (step.warm_up) return StepKind::kWarmUp;
    const TimeNs longer = step.length_ns() - steps_.median_ns;
    const Work work = MeasureOther(step.time);
    if (Explains(LengthInside(checkpoints_, step.time), longer)) return StepKind::kCheckpoint;
    if (IsEvaluation(work, longer)) return StepKind::kEvaluation;
    if (FetchesWeights(work, longer)) return StepKind::kCheckpoint;
    if (WarmsUp(index, step, work, longer)) return StepKind::kWarmUp;
    return StepKind::kIrregular;
  }

 private:
  void HostSpansOf() {
    const HostSpans& spans = rank_.host_spans;
    Intervals found;
    for (std::size_t row = 0; row < spans.size(); ++row) {
      if (spans.kind[row] == HostSpanKind::kCheckpoint)
        found.push_back({spans.start[row], std::min(spans.end[row], rank_.end)});
    }
    checkpoints_ = Merge(std::move(found));
  }

  // Names are told apart by their place in Rank::strings.
  void MeasureRegular() {
    known_.assign(rank_.strings.size(), false);
    for (const Step& step : steps_.steps) {
      if (!step.regular()) continue;
      const Work work = Measure(step.time, [this](std::uint32_t name) {
        known_[name] = true;
        return true;
      });
      regular_.kernels += work.kernels;
      regular_.training += work.training;
      regular_.forward += work.forward;
      regular_.fetched_bytes += work.fetched_bytes;
    }
    const double count = std::max<double>(1, static_cast<double>(steps_.count_regular()));
    regular_.kernels /= count;
    regular_.training /= count;
    regular_.forward /= count;
    regular_.fetched_bytes /= count;
  }

  Work MeasureOther(Interval time) const {
    return Measure(time, [this](std::uint32_t name) { return known_[name]; });
  }
  // `is_known(name)`: of kernels of regular steps.
  template <typename IsKnown>
  Work Measure(Interval time, IsKnown is_known) const {
    Work work;
    const OpRange range = StartingIn(ops_, time);
    for (std::size_t row = range.begin; row < range.end; ++row) {
      if (ops_.kind[row] == OpKind::kKernel) {
        const std::uint32_t shape = ops_.detail[row], launch = ops_.launch[row];
        const std::uint32_t name = rank_.shapes[shape].name;
        const bool backward = launch != kNone && runs_backward_[rank_.api.thread[launch]];
        ++work.kernels;
        const bool foreign = name != kNone && !is_known(name);
        if (foreign) ++work.foreign;
        if (trains_[shape] || backward) {
          ++work.training;
        } else if (!foreign) {
          ++work.forward;
        }
      } else if (ops_.kind[row] == OpKind::kMemcpy) {
        const Transfer& transfer = rank_.transfers[ops_.detail[row]];
        if (transfer.kind == kDeviceToHost)
          work.fetched_bytes += static_cast<double>(transfer.bytes);
      }
    }
    return work;
  }

  static bool Explains(TimeNs part, TimeNs longer) {
    return longer > 0 && static_cast<double>(part) >= kExplained * static_cast<double>(longer);
  }

  bool IsEvaluation(const Work& work, TimeNs longer) const {
    if (regular_.training < 1) return false;
    if (work.training < kHardlyAny * regular_.training)
      return work.kernels >= kHardlyAny * regular_.kernels;
    return longer > 0 && work.training <= kAsMuchTraining * regular_.training &&
           work.forward >= kMoreForward * std::max(regular_.forward, 1.0);
  }

  bool FetchesWeights(const Work& work, TimeNs longer) const {
    return longer > 0 && work.fetched_bytes >= static_cast<double>(kManyBytes) &&
           work.fetched_bytes >= kManyTimes * regular_.fetched_bytes &&
           work.kernels <= kAsMuchTraining * regular_.kernels;
  }

  bool WarmsUp(std::size_t index, const Step& step, const Work& work, TimeNs longer) const {
    if (steps_.first + index > kFirstSteps || longer <= 0) return false;
    if (LacksBeginning(rank_, steps_.start_ns)) return false;
    return work.foreign >= 1 || Explains(InMemoryCalls(step.time), longer);
  }

  // Calls on several threads at once count each.
  TimeNs InMemoryCalls(Interval time) const {
    TimeNs total = 0;
    const ApiCalls& api = rank_.api;
    const auto first = std::lower_bound(api.start.begin(), api.start.end(), time.start);
    for (auto row = static_cast<std::size_t>(first - api.start.begin());
         row < api.size() && api.start[row] < time.end; ++row) {
      if (rank_.api_names[api.name[row]].api_class == ApiClass::kAllocate && api.end[row] != kOpen)
        total += api.end[row] - api.start[row];
    }
    return total;
  }

  const Rank& rank_;
  const GpuOps& ops_;
  const Steps& steps_;
  std::vector<bool> trains_;         // of Rank::shapes
  std::vector<bool> runs_backward_;  // of Rank::threads
  std::vector<bool> known_;          // of Rank::strings: names of kernels of regular steps
  Intervals checkpoints_;
  Work regular_;  // of a mean regular step
};

// Irregular steps recur if so many are, by spells or by steps, or if they cost so much.
constexpr double kOften = 0.1, kManySteps = 0.25, kCostly = 0.05;
constexpr double kMinDistance = 3;  // steps
constexpr double kSteady = 0.1;     // of the distance

// Whether rows of steps come at a steady distance; not those of one slow spell.
bool IsSteady(const std::vector<std::size_t>& rows) {
  const double distance =
      static_cast<double>(rows.back() - rows.front()) / static_cast<double>(rows.size() - 1);
  if (distance < kMinDistance) return false;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double off = std::abs(static_cast<double>(rows[i] - rows[i - 1]) - distance);
    if (off > std::max(1.0, kSteady * distance)) return false;
  }
  return true;
}

// Neighboring rows are one spell.
std::size_t Spells(const std::vector<std::size_t>& rows) {
  std::size_t spells = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == 0 || rows[i] != rows[i - 1] + 1) ++spells;
  }
  return spells;
}

// By how much these steps are longer than usual ones, as a share of the time of all.
double LongerBy(const std::vector<std::size_t>& rows, const Steps& steps) {
  TimeNs all = 0, longer = 0;
  for (const Step& step : steps.steps) all += step.warm_up ? 0 : step.length_ns();
  for (const std::size_t row : rows)
    longer += std::max<TimeNs>(0, steps.steps[row].length_ns() - steps.median_ns);
  return all == 0 ? 0 : static_cast<double>(longer) / static_cast<double>(all);
}

}  // namespace

std::string_view StepKindName(StepKind kind) {
  switch (kind) {
    case StepKind::kRegular:
      return "regular";
    case StepKind::kWarmUp:
      return "warm-up";
    case StepKind::kEvaluation:
      return "evaluation";
    case StepKind::kCheckpoint:
      return "checkpoint";
    case StepKind::kIrregular:
      break;
  }
  return "irregular";
}

std::vector<StepKind> KindsOfSteps(const Rank& rank, const Device& device, const Steps& steps) {
  std::vector<StepKind> kinds(steps.steps.size(), StepKind::kRegular);
  if (steps.count_regular() == kinds.size()) return kinds;
  const Namer namer(rank, device, steps);
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = namer.Of(i);
  return kinds;
}

bool IrregularRecur(const std::vector<StepKind>& kinds, const Steps& steps) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    if (kinds[row] == StepKind::kIrregular) rows.push_back(row);
  }
  if (rows.size() < kRecurringSteps) return false;
  const auto all = static_cast<double>(kinds.size());
  return static_cast<double>(rows.size()) >= kManySteps * all ||
         static_cast<double>(Spells(rows)) >= kOften * all || IsSteady(rows) ||
         LongerBy(rows, steps) >= kCostly;
}

std::vector<bool> UsualSteps(const std::vector<StepKind>& kinds, const Steps& steps) {
  const bool recur = IrregularRecur(kinds, steps);
  std::vector<bool> usual;
  for (const StepKind kind : kinds)
    usual.push_back(kind == StepKind::kRegular || (recur && kind == StepKind::kIrregular));
  return usual;
}

void JudgeSteps(const std::vector<bool>& judged, Steps& steps) {
  for (std::size_t i = 0; i < judged.size(); ++i) steps.steps[i].judged = judged[i];
}

}  // namespace traceinject
