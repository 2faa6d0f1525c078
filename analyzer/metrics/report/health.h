// SPDX-License-Identifier: Apache-2.0
// How far a recording can be trusted, from its counters, its end and the joins between its tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/metrics/report/trust.h"
#include "analyzer/model/join_rate.h"
#include "analyzer/model/run.h"
#include "schemas/health_counters.h"

namespace traceinject {

struct HealthLine {
  HealthSeverity severity = HealthSeverity::kInfo;
  std::size_t rank = 0;  // index into Run::ranks
  std::string name;      // source.counter
  std::int64_t value = 0;
  std::string text;    // what it counts
  std::string detail;  // the recorder's reason; may be empty
};

enum class HealthGrade : std::uint8_t { kUnknown, kGood, kLossy, kBad };

// Lossy: anything was lost, a recording is cut off, or fewer than 99.9 % of the operations join a
// launch, or records contradict each other. Unknown: no counters at all, as in a trace imported
// from elsewhere. Bad: an error, 1 % lost, fewer than 99 % joined, or figures are withheld.
struct RecordingHealth {
  HealthGrade grade = HealthGrade::kUnknown;
  std::vector<std::string> reasons;  // worst first; empty when good
  std::int64_t records_seen = 0;
  std::int64_t records_lost =
      0;  // known number; events of unknown size (an empty buffer pool) are reasons, not counts
  std::optional<double> lost_share;
  std::vector<HealthLine> lines;  // worst first, then by rank and name
};

// O(counters log counters).
RecordingHealth JudgeHealth(const Run& run, const JoinRate& join, const TrustJudgement& trust = {});

std::string_view HealthGradeName(HealthGrade grade);

}  // namespace traceinject
