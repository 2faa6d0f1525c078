// SPDX-License-Identifier: Apache-2.0
// Simulated training whose steps vary as real ones do: the time of each is stretched or squeezed as
// a whole, beside what varies within it.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "analyzer/model/map_times.h"
#include "analyzer/verdict/testing/simulated_training.h"

namespace traceinject {

// Shares of a step.
struct StepNoise {
  double jitter = 0.01;      // of each step by itself: standard deviation
  double correlated = 0.01;  // of what goes on from step to step, by half each time
  double drift = 0.01;       // more at the end than at the beginning, at most
  double outlier_chance = 0.02, outlier = 0.5;
  double spell_chance = 0.5, spell = 0.1;  // of a run; slower for kSpellSteps
  static constexpr int kSpellSteps = 6;
};

class NoiseFactors {
 public:
  NoiseFactors(const StepNoise& noise, std::uint64_t seed) : noise_(noise), random_(seed) {}

  // What the lengths of the steps of a run are multiplied by.
  std::vector<double> Draw(int steps) {
    const double drift = noise_.drift * Chance();
    const int first = Chance() < noise_.spell_chance
                          ? static_cast<int>(Chance() * (steps - StepNoise::kSpellSteps))
                          : steps;
    std::vector<double> factors;
    double state = noise_.correlated * Normal();
    for (int step = 0; step < steps; ++step) {
      double factor = 1 + noise_.jitter * Normal() + state + drift * step / steps;
      state = 0.5 * state + std::sqrt(0.75) * noise_.correlated * Normal();
      if (Chance() < noise_.outlier_chance) factor += noise_.outlier;
      if (step >= first && step < first + StepNoise::kSpellSteps) factor += noise_.spell;
      factors.push_back(std::max(factor, 0.5));
    }
    return factors;
  }

 private:
  double Chance() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  double Normal() { return std::normal_distribution<double>(0, 1)(random_); }

  StepNoise noise_;
  std::mt19937_64 random_;
};

// Moves all times of a rank: between neighboring marks of steps they go on so much slower.
class TimeWarp {
 public:
  TimeWarp(std::vector<TimeNs> marks, const std::vector<double>& factors)
      : marks_(std::move(marks)), factors_(factors) {
    double moved = 0;
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      if (i > 0) moved += factors_[i - 1] * static_cast<double>(marks_[i] - marks_[i - 1]);
      moved_.push_back(moved);
    }
  }

  void Apply(Rank& rank) const {
    for (Device& device : rank.devices) Move(device.ops.start, device.ops.end);
    Move(rank.api.start, rank.api.end);
    Move(rank.gemms.start, rank.gemms.end);
    Move(rank.collectives.start, rank.collectives.end);
    Move(rank.data_waits.start, rank.data_waits.end);
    Move(rank.host_spans.start, rank.host_spans.end);
    Move(rank.step_marks.time, rank.plans.time);
    rank.start = Moved(rank.start);
    rank.end = Moved(rank.end);
  }

 private:
  template <typename Times>
  void Move(Times& one, Times& other) const {
    const auto moved = [this](TimeNs time) { return Moved(time); };
    MapColumn(one, moved);
    MapColumn(other, moved);
  }
  TimeNs Moved(TimeNs time) const {
    if (time <= marks_.front()) return time;
    const auto after = std::upper_bound(marks_.begin(), marks_.end(), time);
    const auto i = static_cast<std::size_t>(after - marks_.begin()) - 1;
    const double factor = i < factors_.size() ? factors_[i] : 1;
    return marks_.front() + static_cast<TimeNs>(std::llround(
                                moved_[i] + factor * static_cast<double>(time - marks_[i])));
  }

  std::vector<TimeNs> marks_;
  std::vector<double> factors_, moved_;
};

// A training of one GPU.
inline Run NoisyTraining(const TrainingPlan& plan, const StepNoise& noise, std::uint64_t seed) {
  SimulatedTraining training(plan, seed);
  Run run;
  run.ranks = {std::move(training.rank())};
  run.ranks[0].path = "run" + std::to_string(seed) + ".db";
  const TimeWarp warp(run.ranks[0].step_marks.time, NoiseFactors(noise, seed).Draw(plan.steps));
  warp.Apply(run.ranks[0]);
  return run;
}

}  // namespace traceinject
