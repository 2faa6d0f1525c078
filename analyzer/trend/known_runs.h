// SPDX-License-Identifier: Apache-2.0
// What is known of runs that were read before, in the user's folder for such files:
// $XDG_CACHE_HOME/traceinject/trend, by default ~/.cache/traceinject/trend.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schemas/trend.pb.h"

namespace traceinject {

// Grows when DescribeRun() tells the same run otherwise.
inline constexpr int kTrendVersion = 1;

// Empty where no home is known.
std::string KnownRunsFolder();

class KnownRuns {
 public:
  // folder: where they are kept; empty: nowhere. asked: all that DescribeRun() depends on beside
  // the files.
  KnownRuns(std::string folder, std::string asked)
      : folder_(std::move(folder)), asked_(std::move(asked)) {}

  // Of a run of these files, unless one of them is another since, by size and time.
  std::optional<proto::TrendRun> Find(const std::vector<std::string>& files) const;
  // In place of what is kept of these files. That it cannot be kept is no failure: it is read again
  // then.
  void Keep(const std::vector<std::string>& files, const proto::TrendRun& run) const;

 private:
  std::string folder_, asked_;
};

}  // namespace traceinject
