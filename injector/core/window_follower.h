// SPDX-License-Identifier: Apache-2.0
// Whether recording is on at this moment: as the plan of windows has it (window_plan.h), unless the
// trigger file orders otherwise (trigger_file.h). The writer thread asks; the program's threads
// never do: a step that ends at most wakes the writer.
#pragma once

#include <cstdint>

#include "injector/core/trigger_file.h"
#include "injector/core/window_plan.h"
#include "injector/store/rows.h"

namespace traceinject {

class WindowFollower {
 public:
  WindowFollower(const WindowPlan& plan, TriggerFile trigger);

  // As Follow() last found it; on before.
  bool recording() const { return recording_; }

  // Once a flush.
  void ReadTrigger(std::int64_t now_ns) { order_ = trigger_.Read(now_ns); }
  // Looks anew. True: recording is to be turned on or off now.
  bool Follow();
  // When to look again, on the monotonic clock.
  std::int64_t NextLookNs() const;

  // What is not recorded since `time`, or was not until then. Relative to base_ns.
  const CaptureGapRow& BeginGap(std::int64_t time, std::uint64_t number);
  const CaptureGapRow& EndGap(std::int64_t time);

 private:
  bool IsWanted() const;
  RunProgress Progress() const;

  WindowPlan plan_;
  TriggerFile trigger_;
  TriggerFile::Order order_ = TriggerFile::Order::kNone;
  std::int64_t began_ns_;  // monotonic
  bool recording_ = true;
  CaptureGapRow gap_;
};

}  // namespace traceinject
