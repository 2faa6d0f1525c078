// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/replay_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/metrics/steps/window.h"
#include "analyzer/metrics/what_if/played_ops.h"

namespace traceinject {
namespace {

constexpr std::size_t kMaxOps = 500'000;  // more change the third digit of the error, if any
constexpr std::size_t kFitted = 32;       // steps of a half whose residuals are looked at

std::int32_t Narrow(TimeNs ns) {
  constexpr TimeNs kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(ns, -kMax, kMax));
}

// What a recorded operation has beside its length, as PlayedOp has it.
struct Recorded {
  Residual own;
  bool late = false;
};

// A step, and which half it is in.
struct Dealt {
  std::size_t index = 0;
  OpRange rows;
  std::uint64_t sequence = 0;  // of what runs in it; alike steps have the same
  std::size_t half = 0;
};

// Gaps of operations that were launched in time, latencies of those that were not.
class Fit {
 public:
  void Add(const Recorded& op) {
    (op.late ? latencies_ : gaps_).push_back(op.late ? op.own.latency_ns : op.own.gap_ns);
  }
  // Changes their order.
  Residual Typical(const Residual& usual) {
    return {Median(gaps_, usual.gap_ns), Median(latencies_, usual.latency_ns)};
  }
  void Clear() {
    gaps_.clear();
    latencies_.clear();
  }

 private:
  static std::int32_t Median(std::vector<std::int32_t>& values, std::int32_t otherwise) {
    if (values.empty()) return otherwise;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  std::vector<std::int32_t> gaps_, latencies_;
};

class Checker {
 public:
  Checker(const Replay& replay, const Rank& rank, const Device& device, const Steps& steps)
      : replay_(replay),
        ops_(device.ops),
        steps_(steps),
        usual_{Narrow(kSwitchNs), Narrow(replay.usual_latency_ns())} {
    Deal();
    if (dealt_.size() < kMinChecked) return;
    first_ = dealt_.front().rows.begin;
    Read(rank);
  }

  std::optional<ReplayCheck> Check(StopFlag stop) {
    if (dealt_.size() < kMinChecked) return std::nullopt;
    const Residuals predicted = Predicted(), explained = Explained();
    const std::vector<TimeNs> fitted = replay_.RunAll({{}}, stop, &predicted).front();
    const std::vector<TimeNs> smooth = replay_.RunAll({{}}, stop, &explained).front();
    if (IsStopped(stop)) return std::nullopt;
    return Compare(fitted, smooth);
  }

 private:
  // What kind an operation is: the index of its shape, or none of a kernel.
  std::uint64_t KindOf(std::size_t row) const {
    const bool kernel = ops_.kind[row] == OpKind::kKernel;
    return kernel ? ops_.detail[row]
                  : (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(ops_.kind[row]);
  }

  void Deal() {
    std::size_t begin = steps_.before == kNone ? 0 : steps_.before + 1, count = 0;
    for (std::size_t i = 0; i < steps_.steps.size(); ++i) {
      const Step& step = steps_.steps[i];
      if (step.last_op == kNone || step.last_op < begin) continue;
      const OpRange rows{begin, step.last_op + 1};
      begin = rows.end;
      if (!step.regular()) continue;
      count += rows.end - rows.begin;
      if (count > kMaxOps && dealt_.size() >= kMinChecked) return;
      Dealt dealt{i, rows, 14695981039346656037ULL, dealt_.size() % 2};
      for (std::size_t row = rows.begin; row < rows.end; ++row)  // FNV-1a, of numbers
        dealt.sequence = (dealt.sequence ^ KindOf(row)) * 1099511628211ULL;
      dealt_.push_back(dealt);
    }
  }

  void Read(const Rank& rank) {
    TimeNs ended = ops_.start.front();
    for (std::size_t row = 0; row < first_; ++row) ended = std::max(ended, ops_.end[row]);
    ReplayInput played(rank.api, ops_, ended, replay_.usual_latency_ns(), nullptr,
                       static_cast<std::uint32_t>(first_));
    const std::size_t count = dealt_.back().rows.end - first_;
    recorded_.reserve(count);
    while (recorded_.size() < count) {
      const auto row = static_cast<std::uint32_t>(first_ + recorded_.size());
      const auto ops = played.From(row);
      for (const PlayedOp& op : ops.first(std::min(ops.size(), count - recorded_.size())))
        recorded_.push_back({{Narrow(op.gap), Narrow(op.latency)}, op.late});
      played.GiveUp(row);
    }
  }
  const Recorded& At(std::size_t row) const { return recorded_[row - first_]; }

  // As recorded: what is between the steps keeps it.
  Residuals AsRecorded() const {
    Residuals residuals{static_cast<std::uint32_t>(first_), {}};
    residuals.of_ops.reserve(recorded_.size());
    for (const Recorded& op : recorded_) {
      const std::int32_t gap = op.late ? std::min(op.own.gap_ns, usual_.gap_ns) : op.own.gap_ns;
      residuals.of_ops.push_back({gap, op.own.latency_ns});
    }
    return residuals;
  }

  Residuals Explained() const {
    Residuals residuals = AsRecorded();
    for (const Dealt& step : dealt_) {
      for (std::size_t row = step.rows.begin; row < step.rows.end; ++row) {
        Residual& residual = residuals.of_ops[row - first_];
        residual.gap_ns = std::min(residual.gap_ns, usual_.gap_ns);
        residual.latency_ns = std::min(residual.latency_ns, usual_.latency_ns);
      }
    }
    return residuals;
  }

  Residuals Predicted() const {
    Residuals residuals = AsRecorded();
    for (const std::size_t half : {0U, 1U}) {
      std::unordered_map<std::uint64_t, std::vector<const Dealt*>> alike;  // of the other half
      for (const Dealt& step : dealt_) {
        std::vector<const Dealt*>& steps = alike[step.sequence];
        if (step.half != half && steps.size() < kFitted) steps.push_back(&step);
      }
      std::unordered_map<std::uint64_t, Residual> kinds = OfKinds(1 - half);
      std::unordered_map<std::uint64_t, std::vector<Residual>> places;
      for (const Dealt& step : dealt_) {
        if (step.half != half) continue;
        const std::vector<const Dealt*>& others = alike[step.sequence];
        if (others.empty()) {
          for (std::size_t row = step.rows.begin; row < step.rows.end; ++row)
            residuals.of_ops[row - first_] = kinds.try_emplace(KindOf(row), usual_).first->second;
          continue;
        }
        std::vector<Residual>& typical = places[step.sequence];
        if (typical.empty()) typical = OfPlaces(others);
        std::copy(typical.begin(), typical.end(),
                  residuals.of_ops.begin() + static_cast<std::ptrdiff_t>(step.rows.begin - first_));
      }
    }
    return residuals;
  }

  std::vector<Residual> OfPlaces(const std::vector<const Dealt*>& steps) const {
    std::vector<Residual> typical;
    Fit fit;
    const std::size_t count = steps.front()->rows.end - steps.front()->rows.begin;
    for (std::size_t place = 0; place < count; ++place) {
      fit.Clear();
      for (const Dealt* step : steps) fit.Add(At(step->rows.begin + place));
      typical.push_back(fit.Typical(usual_));
    }
    return typical;
  }

  std::unordered_map<std::uint64_t, Residual> OfKinds(std::size_t half) const {
    std::unordered_map<std::uint64_t, Fit> fits;
    std::size_t looked_at = 0;
    for (const Dealt& step : dealt_) {
      if (step.half != half || ++looked_at > kFitted) continue;
      for (std::size_t row = step.rows.begin; row < step.rows.end; ++row)
        fits[KindOf(row)].Add(At(row));
    }
    std::unordered_map<std::uint64_t, Residual> typical;
    for (auto& [kind, fit] : fits) typical[kind] = fit.Typical(usual_);
    return typical;
  }

  ReplayCheck Compare(const std::vector<TimeNs>& fitted, const std::vector<TimeNs>& smooth) const {
    ReplayCheck check;
    double recorded = 0, predicted = 0, explained = 0;
    std::vector<double> errors;
    for (const Dealt& step : dealt_) {
      const auto length = static_cast<double>(steps_.steps[step.index].length_ns());
      if (length <= 0) continue;
      recorded += length;
      predicted += static_cast<double>(fitted[step.index]);
      explained += static_cast<double>(smooth[step.index]);
      errors.push_back(std::abs(static_cast<double>(fitted[step.index]) / length - 1));
    }
    if (errors.empty()) return check;
    std::sort(errors.begin(), errors.end());
    check.steps = errors.size();
    check.error = std::abs(predicted / recorded - 1);
    check.median_step_error = errors[errors.size() / 2];
    check.worst_step_error = errors.back();
    check.residual_share = std::max(0.0, 1 - explained / recorded);
    return check;
  }

  const Replay& replay_;
  const GpuOps& ops_;
  const Steps& steps_;
  std::vector<Dealt> dealt_;
  std::size_t first_ = 0;  // row of the first operation that is looked at
  std::vector<Recorded> recorded_;
  const Residual usual_;
};

}  // namespace

std::optional<ReplayCheck> CheckReplay(const Replay& replay, const Rank& rank, const Device& device,
                                       const Steps& steps, StopFlag stop) {
  return Checker(replay, rank, device, steps).Check(stop);
}

}  // namespace traceinject
