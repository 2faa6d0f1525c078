// SPDX-License-Identifier: Apache-2.0
// tries.db: what was foretold and what was measured, of all tries of a folder, so that predictions
// can be held against them (`analyze score`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "schemas/tries.pb.h"

namespace traceinject {

inline constexpr char kTriesFile[] = "tries.db";

struct ScoredTry {
  std::string file, command, tried, label;
  std::int64_t step_ns = 0;  // as it was
  std::int64_t predicted_ns = 0, measured_ns = 0;
  std::optional<std::int64_t> predicted_low_ns, predicted_high_ns;  // 95 % interval
  std::optional<std::int64_t> measured_low_ns, measured_high_ns;

  // |predicted - measured| of the step.
  double error() const;
  // Whether both intervals have a value in common: the truth may be in both.
  bool agrees() const;
  // Whether the predicted interval holds what was measured.
  bool holds() const;
};

// Adds what was measured, with what was foretold of it; the file is made where it is not there.
// `unix_s`: when.
Status AppendTries(const std::string& path, const proto::Tries& tries, std::int64_t unix_s);

// Those with a prediction, of all files of that name in and below a folder, or of one file.
Result<std::vector<ScoredTry>> ReadTries(const std::string& path);

// The middle of values; 0 without any. O(n log n).
double MiddleError(const std::vector<ScoredTry>& tries);

}  // namespace traceinject
