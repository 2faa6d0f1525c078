// SPDX-License-Identifier: Apache-2.0
// What the readers found wrong with the records (analyzer/model/trust.h), in words, and which
// figures are not given for it.
//
// The aim: no figure is off by more than a fiftieth without a word. So each limit below is the
// damage at which the figures that it guards would be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/idle/partition.h"
#include "analyzer/model/join_rate.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Of a device's window, time of which nothing is known and durations that were replaced: as much
// may be missing from any part of the partition.
inline constexpr double kMaxUnrecorded = 0.02;
// Of the gaps, those of unknown cause: every operation without a launch hides the cause of the gap
// before it, every lost operation that of the gap after it, too. Far below a fiftieth, because most
// idle time lies in few gaps: in recordings on H200, one gap in a hundred held a twelfth of a
// cause.
inline constexpr double kMaxHiddenCauses = 0.002;
// Of the operations, those that start before their launch: ids or clocks are wrong.
inline constexpr double kMaxEarlyStarts = 0.01;
// Of the operations, those that are missing or whose launch is. FLOPs and NCCL's figures need three
// records of each call, of itself, its launch and its kernel, and shapes that occur only a few
// times are off first.
inline constexpr double kMaxBrokenLinks = 0.002;
// Of the operations, overlaps on a stream: less is nothing that any sum of time would show.
inline constexpr double kFewOverlaps = 0.001;
// Of the operations, lost ones: so many more make every count wrong, and all that is divided by
// one.
inline constexpr double kMaxLostOperations = 0.02;

enum class Figures : std::uint8_t {
  kTimes,      // all that depends on when something was
  kPartition,  // and the steps'
  kSteps,      // where they end
  kGapCauses,
  kLinks,  // FLOPs, and what was found out about collectives
};

// "times", "partition", "steps", "gap_causes", "links".
std::string_view FiguresName(Figures figures);

struct TrustFinding {
  std::size_t rank = 0;  // index into Run::ranks
  std::string name;
  std::int64_t count = 0;
  std::optional<double> share;
  std::optional<TimeNs> time_ns;
  std::string text;
};

struct WithheldFigures {
  std::size_t rank = 0;  // whose figures, and the run's sums
  Figures figures = Figures::kPartition;
  std::string reason;
};

struct TrustJudgement {
  std::vector<TrustFinding> findings;
  std::vector<WithheldFigures> withheld;

  // Null: they are given.
  const WithheldFigures* Withheld(std::size_t rank, Figures figures) const;
  // Whether where its steps end, or when anything was, is withheld.
  bool WithholdsSteps(std::size_t rank) const;
  // Why a verdict would rest on nothing; empty: it does not.
  std::string Grounds() const;
};

// What was found of a device's window. Of the other damage it is not known when it happened: it
// counts for the whole recording.
struct TrustedDevice {
  std::size_t rank = 0;
  Partition partition;
  JoinRate join;
};

// O(ranks * devices).
TrustJudgement JudgeTrust(const Run& run, const std::vector<TrustedDevice>& devices);

}  // namespace traceinject
