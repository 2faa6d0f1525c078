// SPDX-License-Identifier: Apache-2.0
// What this run has set of what a lever is about, and what it should be instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

struct LeverValue {
  std::string name, current;
  std::string suggested;  // empty: the lever says it

  bool operator==(const LeverValue&) const = default;
};

struct LeverFacts {
  bool is_set = false;  // nothing is left to do
  std::vector<LeverValue> values;
};

struct LeverContext {
  const DeviceAnalysis& judged;
  double new_step_ns = 0;  // of a mean step without the cause; 0: unknown
};

// Among the values of num_workers: workers that start again then make the program wait.
inline constexpr std::string_view kEpochsBegun = "epochs that begin in these steps";

// Of the loader that the program waited longest for. num_workers: as many as make the batches of a
// step in the time that is left of it, from what they take now, but no more than there are cores.
LeverFacts WorkersOf(const LeverContext& context);
LeverFacts PrefetchingOf(const LeverContext& context);
LeverFacts PinningOf(const LeverContext& context);
// Set where the sizes of buckets are known: they are as advised, or a finding tells
// (add_link_findings.h).
LeverFacts BucketsOf(const LeverContext& context);

// How long the threads that launch could run but had no processor, where that is kLeastUnscheduled
// of a step or more; set where it is less, or not known.
LeverFacts ProcessorsOf(const LeverContext& context);
inline constexpr double kLeastUnscheduled = 0.02;

// Environment variables that a text names and that the recorded program had set. Those of
// "NAME=VALUE" are to be VALUE, after "unset " there are to be none. O(facts).
std::vector<LeverValue> EnvironmentValues(std::string_view text, const Rank& rank);

// Processors that a rank has for workers of its own, beside the training process; empty: not
// recorded.
std::optional<int> CoresForWorkers(const Rank& rank);

}  // namespace traceinject
