// SPDX-License-Identifier: Apache-2.0
// All that went on on the threads of a process, in the order in which it began.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

enum class HostEventKind : std::uint8_t {
  kNvtx,
  kProfiled,
  kDataWait,
  kHostSpan,
  kStepMark,
  kCollective,
  kAttention,
  kGemm,
  kApi,
  kCount
};

struct HostEvent {
  HostEventKind kind = HostEventKind::kApi;
  bool instant = false;   // a mark: it takes no time
  std::uint32_t row = 0;  // of the table of its kind
  std::uint32_t thread = 0;
  TimeNs start = 0, end = 0;  // of what was still open, that of the recording
};

// Walks the tables side by side: memory is that of events that begin at the same moment.
class HostEvents {
 public:
  // The rank must outlive this.
  explicit HostEvents(const Rank& rank);

  // The next one by start, and of those that start together the longest; false: there is none.
  // O(kinds) amortised.
  bool Next(HostEvent& event);

 private:
  bool Peek(std::size_t kind, HostEvent& event) const;
  void Gather();

  const Rank& rank_;
  // Waits for data and step marks of another profiler's trace were found in its ranges, which are
  // events already.
  bool from_ranges_;
  std::array<std::uint32_t, static_cast<std::size_t>(HostEventKind::kCount)> at_{};
  std::vector<HostEvent> together_;  // that start at the same moment, the next one last
};

}  // namespace traceinject
