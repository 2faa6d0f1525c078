// SPDX-License-Identifier: Apache-2.0
// Whether recording is on at this moment: as the plan of windows has it (window_plan.h), unless the
// trigger file orders otherwise (trigger_file.h). The writer thread asks; the program's threads
// never do: a step that ends at most wakes the writer. The trigger file is looked at by a thread
// that may wait for its file system.
#pragma once

#include <atomic>
#include <cstdint>

#include "injector/options/window_plan.h"
#include "injector/recorder/trigger_file.h"
#include "injector/rows/rows.h"

namespace traceinject {

class WindowFollower {
 public:
  WindowFollower(const WindowPlan& plan, TriggerFile trigger);

  // As Follow() last found it; on before.
  bool recording() const { return recording_; }

  // Of one thread: looks at the trigger file when that is due, at `now` on the monotonic clock.
  // True: there is another order.
  bool LookAtTrigger(std::int64_t now_ns);
  std::int64_t next_trigger_look_ns() const { return next_trigger_look_ns_; }
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
  std::int64_t began_ns_;              // monotonic
  std::int64_t next_trigger_look_ns_;  // monotonic
  std::atomic<std::int64_t> order_{TriggerFile::kNoOrder};
  bool recording_ = true;
  CaptureGapRow gap_;
};

}  // namespace traceinject
