// SPDX-License-Identifier: Apache-2.0
// What streams and threads waited for, as far as it was recorded.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "analyzer/export/chakra/chakra_operations.h"
#include "analyzer/model/run.h"

namespace traceinject {

class WaitTargets {
 public:
  // Both must outlive this. O(operations log operations + waits).
  WaitTargets(const Rank& rank, const ChakraOperations& operations);

  // (who waited, for what): operations of different streams.
  const std::vector<std::pair<OpRef, OpRef>>& of_streams() const { return of_streams_; }

  // What a call that synchronizes waited for: the last operations launched before it that it
  // concerns. Empty: not recorded, or nothing. O(log n + streams).
  std::vector<OpRef> OfCall(std::uint32_t call) const;

 private:
  // Operations of a stream by when they were launched.
  struct Launches {
    std::vector<TimeNs> time;
    std::vector<OpRef> op;
  };
  // A wait of a thread.
  struct HostWait {
    Interval time;
    std::vector<OpRef> ops;
  };

  // The last one launched into a stream before a time, and the first one from then on.
  OpRef LastBefore(std::uint32_t stream, TimeNs time) const;
  OpRef FirstFrom(std::uint32_t stream, TimeNs time) const;
  bool WaitsForDevice(std::uint32_t call) const;
  void ReadSyncs();

  const Rank& rank_;
  std::vector<Launches> by_stream_;
  std::vector<std::pair<OpRef, OpRef>> of_streams_;
  std::vector<std::vector<HostWait>> by_thread_;  // by start
};

}  // namespace traceinject
