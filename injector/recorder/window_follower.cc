// SPDX-License-Identifier: Apache-2.0
#include "injector/recorder/window_follower.h"

#include <time.h>
#include <unistd.h>

#include <utility>

#include "injector/base/clock.h"
#include "injector/base/step_count.h"

namespace traceinject {

namespace {

// The file is on a file system that thousands of ranks may share: they look seldom, not all at
// once, and less so where nobody is likely to give orders. analyze trigger and docs/recording.md
// tell how long it takes.
constexpr std::int64_t kTriggerLookNs = 2'000'000'000, kSeldomTriggerLookNs = 10'000'000'000;

// Somewhere in the interval, by process.
std::int64_t FirstLookNs(std::int64_t interval_ns) {
  constexpr std::uint32_t kSpread = 2654435769;  // neighbors come far apart (Knuth, 6.4)
  return interval_ns / 1024 * ((static_cast<std::uint32_t>(getpid()) * kSpread) >> 22);
}

}  // namespace

WindowFollower::WindowFollower(const WindowPlan& plan, TriggerFile trigger)
    : plan_(plan),
      trigger_(std::move(trigger)),
      began_ns_(ReadClockNs(CLOCK_MONOTONIC)),
      next_trigger_look_ns_(began_ns_ +
                            FirstLookNs(plan.IsAll() ? kSeldomTriggerLookNs : kTriggerLookNs)) {}

bool WindowFollower::LookAtTrigger(std::int64_t now_ns) {
  if (now_ns < next_trigger_look_ns_) return false;
  const std::int64_t order = trigger_.Read();
  const bool seldom = plan_.IsAll() && order == TriggerFile::kNoOrder;
  next_trigger_look_ns_ = now_ns + (seldom ? kSeldomTriggerLookNs : kTriggerLookNs);
  return order_.exchange(order, std::memory_order_relaxed) != order;
}

RunProgress WindowFollower::Progress() const {
  return {g_step_count.ended(), ReadClockNs(CLOCK_MONOTONIC) - began_ns_};
}

bool WindowFollower::IsWanted() const {
  const std::int64_t order = order_.load(std::memory_order_relaxed);
  if (order != TriggerFile::kNoOrder) return NowNs() < order;
  return plan_.Wants(Progress());
}

bool WindowFollower::Follow() {
  // First, as a step that ends before it wakes nobody.
  g_step_count.WakeAt(plan_.NextStep(Progress()));
  const bool was_on = recording_;
  recording_ = IsWanted();
  return recording_ != was_on;
}

std::int64_t WindowFollower::NextLookNs() const {
  const std::int64_t next = plan_.NextNs(Progress());
  return next == WindowPlan::kNever ? WindowPlan::kNever : began_ns_ + next;
}

const CaptureGapRow& WindowFollower::BeginGap(std::int64_t time, std::uint64_t number) {
  gap_ = {time, -1, "window", number};
  return gap_;
}

const CaptureGapRow& WindowFollower::EndGap(std::int64_t time) {
  gap_.dur = ElapsedNs(gap_.start, time);
  return gap_;
}

}  // namespace traceinject
