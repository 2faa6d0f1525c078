// SPDX-License-Identifier: Apache-2.0
// What the run would have taken, had one thing been different.
//
// The recording is played again with one host and one device:
//   host    moves from one event to the next in the recorded time; a call that waits for the device
//           returns when the operation it waited for has ended, plus its recorded overhead;
//   device  runs the operations in the recorded order. Operation k starts at
//             max(end of what ran before + q(k), launch(k) + l(k)),
//           where l is the recorded latency from launch to start where the device was idle (else at
//           most the usual one), and q the recorded gap if k was launched in time, else at most
//           `kSwitchNs` (`kGraphSwitchNs` without launching, also of what was launched in time
//           and came within `kLongestSwitchNs`); for operations that overlapped others, q is minus
//           the overlap. Where operations take other times, none starts before one that started
//           before it in the recording.
// With nothing changed it gives the recorded times back. Changes act on host time, on waits and on
// operations; what then limits the run follows: removing a wait saves nothing where the host is
// slower than the device anyway, and the other way round.
//
// Not modelled: event dependencies between streams other than by their recorded overlap, launches
// that would fill the queue where they did not in the recording, and hosts that slow each other
// down.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/common/stop_flag.h"
#include "analyzer/metrics/idle/gap_causes.h"
#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/metrics/steps/steps.h"
#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// From one operation to the next of a stream that was launched in time: about a microsecond on
// current GPUs.
inline constexpr TimeNs kSwitchNs = 1'000;
// The same inside a CUDA graph. Measured on an H200: a step of 2,697 kernels that take 2.92 ms
// lasts 3.58 ms as a graph (tests/gpu/RESULTS.md, planted bottlenecks, launch).
inline constexpr TimeNs kGraphSwitchNs = 250;

// A loader whose workers keep up still costs the program time for each batch, in proportion to its
// bytes: in the Kineto samples of ResNet-50 with four workers 1.35 to 1.4 ms to hand one of 19 MB
// over, and 2 ms or more in which its threads hold the interpreter that launches. At most a
// twentieth of the wait that it replaces.
inline constexpr TimeNs kHandOverNs = 3'000'000, kLeastHandOverNs = 100'000;
inline constexpr double kHandOverBytesPerNs = 6.4;
constexpr TimeNs HandOver(TimeNs wait_ns, TimeNs of_batch_ns) {
  return wait_ns / 20 < of_batch_ns ? wait_ns / 20 : of_batch_ns;
}
// Of a batch: as many bytes as are copied to the device for each wait for data in the steps.
// O(operations + waits).
TimeNs HandOverOf(const Rank& rank, const GpuOps& ops, const Steps& steps);

// How long an operation would have taken. One of no time is not there at all: what overlapped it
// keeps its place among the rest.
struct OpLength {
  std::uint32_t row = 0;  // of the device's operations
  TimeNs length_ns = 0;
};

struct Scenario {
  // Host time of these causes takes no time (waits for data: HandOver() of it), and
  // calls of these causes wait for nothing. Without checkpoints what they launch is not there
  // either.
  std::array<bool, kIdleCauses> without{};
  bool without_launching = false;      // launch calls and the time between calls take none
  bool without_communication = false;  // communication kernels take none
  // Rate of copies from pageable memory to the device, bytes per nanosecond, and the host does not
  // wait for them; 0: as recorded.
  double upload_rate = 0;
  TimeNs recorder_ns = 0;  // shorter host time at each call that launches something
  // Operations that take another time, by row; null: none do. Scenarios share it.
  std::shared_ptr<const std::vector<OpLength>> lengths = nullptr;
  // Host time, as recorded, that is not there either (host_work.h); null: none.
  std::shared_ptr<const Intervals> gone = nullptr;

  static Scenario Without(IdleCause cause) {
    Scenario scenario;
    scenario.without[static_cast<std::size_t>(cause)] = true;
    return scenario;
  }
};

// What an operation has of its own beside its length: see l and q above.
struct Residual {
  std::int32_t gap_ns = 0, latency_ns = 0;
};

// Instead of the recorded ones, of the operations from a row on.
struct Residuals {
  std::uint32_t first = 0;
  std::vector<Residual> of_ops;

  std::size_t end() const { return first + of_ops.size(); }
};

class Replay {
 public:
  // All must outlive it. O(n log n).
  Replay(const Rank& rank, const Device& device, const HostTimeline& timeline,
         const GapCauses& causes, const Steps& steps);

  // False: the scenario does without what the recording has none of, so that its steps are as long
  // as those of one that has the same recorder_ns and changes nothing else. O(1).
  bool Changes(const Scenario& scenario) const;
  // Length of each step in the scenario. O(n).
  std::vector<TimeNs> Run(const Scenario& scenario) const;
  // The same for several, played side by side: what one reads is still in the cache for the next.
  // Stopped: some are empty. With residuals it ends behind the last of them: what later steps have
  // is no length.
  std::vector<std::vector<TimeNs>> RunAll(const std::vector<Scenario>& scenarios,
                                          StopFlag stop = nullptr,
                                          const Residuals* residuals = nullptr) const;
  // From launch to start where the device is idle.
  TimeNs usual_latency_ns() const { return usual_latency_ns_; }

 private:
  friend class Player;

  const Rank& rank_;
  const GpuOps& ops_;
  const Steps& steps_;
  std::vector<HostSegment> segments_;   // of the timeline and those that gaps show; by start
  std::vector<std::uint8_t> launches_;  // per call: 1 or 0, read too often for bits
  // Per block of calls, as LaunchTimes has them: the last operation that they launched; kNone.
  std::vector<std::uint32_t> last_ops_;
  // Rows, ascending, of the operations whose replayed end is asked for: those that the host waits
  // for and the last ones of steps.
  std::vector<std::uint32_t> watched_;
  TimeNs usual_latency_ns_ = 0;
  TimeNs hand_over_ns_ = 0;  // of a batch
  TimeNs begin_ = 0;         // of what is replayed
  // What the recording has.
  std::array<bool, kIdleCauses> causes_{};
  bool communicates_ = false, uploads_ = false;
};

}  // namespace traceinject
