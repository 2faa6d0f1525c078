// SPDX-License-Identifier: Apache-2.0
#include "injector/core/window_follower.h"

#include <time.h>

#include <utility>

#include "injector/core/clock.h"
#include "injector/core/step_count.h"

namespace traceinject {

WindowFollower::WindowFollower(const WindowPlan& plan, TriggerFile trigger)
    : plan_(plan), trigger_(std::move(trigger)), began_ns_(ReadClockNs(CLOCK_MONOTONIC)) {}

RunProgress WindowFollower::Progress() const {
  return {g_step_count.ended(), ReadClockNs(CLOCK_MONOTONIC) - began_ns_};
}

bool WindowFollower::IsWanted() const {
  if (order_ != TriggerFile::Order::kNone) return order_ == TriggerFile::Order::kStart;
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
  gap_.dur = time - gap_.start;
  return gap_;
}

}  // namespace traceinject
