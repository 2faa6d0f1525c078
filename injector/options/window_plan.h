// SPDX-License-Identifier: Apache-2.0
// What part of a run is recorded (TRACEINJECT_WINDOW): a window of steps or of time, once or again
// and again. The texts that are understood are one table, in window_plan.cc.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace traceinject {

// How far the run is.
struct RunProgress {
  std::int64_t steps = 0;       // that have ended, as step marks tell
  std::int64_t elapsed_ns = 0;  // since recording began, on a clock that nobody sets
};

class WindowPlan {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  // Where no step has ended by then, seconds count as steps.
  static constexpr std::int64_t kStepsAwaitedNs = 60'000'000'000;

  // False if the text is no plan.
  static bool Parse(std::string_view text, WindowPlan* plan);

  // Blocks of so many steps, alternately recorded and not.
  static WindowPlan Alternating(std::int64_t steps);

  bool Wants(const RunProgress& progress) const;
  // Nothing is left out.
  bool IsAll() const { return period_ == 0 && from_ == 0 && to_ == kNever; }

  // The number of ended steps, and the time, from which on Wants() may be different; kNever: no
  // such number or time.
  std::int64_t NextStep(const RunProgress& progress) const;
  std::int64_t NextNs(const RunProgress& progress) const;

 private:
  // A form of the table, once its numbers are read.
  friend struct WindowForm;

  bool CountsSeconds(const RunProgress& progress) const;
  // What the window is measured in: ended steps, or ns.
  std::int64_t Position(const RunProgress& progress) const;
  std::int64_t NextEdge(std::int64_t position) const;

  bool by_steps_ = false;
  std::int64_t period_ = 0;              // 0: once
  std::int64_t from_ = 0, to_ = kNever;  // positions [from, to), in each period
};

}  // namespace traceinject
