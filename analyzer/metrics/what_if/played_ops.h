// SPDX-License-Identifier: Apache-2.0
// What a replay (replay.h) takes from the recording of each operation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/metrics/what_if/replay.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What of an operation is the same in all scenarios.
struct PlayedOp {
  TimeNs length = 0;
  TimeNs gap = 0;      // from the end of all before it to its start; below 0: it overlapped them
  TimeNs latency = 0;  // from its launch to its start, where that is known
  std::uint32_t launch = kNone;
  bool launch_known = false;  // else nobody knows when it was launched
  bool late = false;          // launched after the end of all before it, or on its way then
};

// Works these out once for all players, a stretch of rows at a time.
class ReplayInput {
 public:
  // Operations before `first` are left out: `begin` is then the end of all of them.
  ReplayInput(const ApiCalls& api, const GpuOps& ops, TimeNs begin, TimeNs usual_latency_ns,
              const Residuals* residuals = nullptr, std::uint32_t first = 0)
      : api_(api),
        ops_(ops),
        first_(first),
        recorded_(begin),
        usual_latency_ns_(usual_latency_ns),
        residuals_(residuals) {}

  // Some of the operations from that row on, at least one.
  std::span<const PlayedOp> From(std::uint32_t row) {
    if (row == first_ + played_.size()) Play(row);
    return std::span(played_).subspan(row - first_);
  }
  // Those before a row are no longer asked for.
  void GiveUp(std::uint32_t row) {
    played_.erase(played_.begin(), played_.begin() + (row - first_));
    first_ = row;
  }

 private:
  static constexpr std::size_t kStretch = 1024;

  void Play(std::size_t row);
  void Substitute(std::size_t row, PlayedOp& op) const;

  const ApiCalls& api_;
  const GpuOps& ops_;
  std::vector<PlayedOp> played_;
  std::uint32_t first_;  // row of the first of these
  TimeNs recorded_;      // end of all before the next
  const TimeNs usual_latency_ns_;
  const Residuals* const residuals_;
};

}  // namespace traceinject
