// SPDX-License-Identifier: Apache-2.0
// One object of a job timeline (docs/formats.md): its header, or an operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/metrics/idle/host_timeline.h"
#include "analyzer/model/run.h"

namespace traceinject {

// The newest version of the format.
inline constexpr int kTimelineVersion = 1;

enum class TimelineWork : std::uint8_t {
  kCompute,     // on the GPU
  kHost,        // on the host, with the GPU idle
  kPair,        // data to or from another rank
  kCollective,  // among the ranks of a group
};

// What an operation can be.
struct TimelineKind {
  std::string_view name;  // as it is written, but for case, "-" and "_"
  TimelineWork work = TimelineWork::kCompute;
  // kCompute: what several are called; kPair and kCollective: as OperationKind::function.
  std::string_view function = {};
  IdleCause cause = IdleCause::kUnknown;  // kHost
};

// All of their names, in a sentence.
std::string TimelineKindNames();

struct TimelineHeader {
  int decimals = 9;    // of a second, that a whole unit of time is: 9 in ns, 6 in us
  int world_size = 0;  // 0: not told
  std::string host, gpu;
};

struct TimelineOperation {
  int rank = -1;
  std::optional<std::int64_t> step;
  const TimelineKind* kind = nullptr;
  TimeNs start = 0, end = 0;
  int stage = -1, micro_batch = -1, peer = -1;  // -1: not told
  std::string group;                            // empty: not told
  int group_size = 0;                           // 0: not told
  std::int64_t bytes = -1;                      // -1: not told
  std::string host, gpu;
};

// Errors name the field and what is expected, not the file. `text`: readable for
// TimelineObjects::kPadding bytes beyond its end. O(length).
Result<TimelineHeader> ReadTimelineHeader(std::string_view text);
// `to` is overwritten.
Status ReadTimelineOperation(std::string_view text, const TimelineHeader& header,
                             TimelineOperation& to);

}  // namespace traceinject
