// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/newest_attempt.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"

namespace traceinject {

NewestAttempt FindNewestAttempt(const std::vector<AttemptFile>& files) {
  const auto newest = std::max_element(
      files.begin(), files.end(),
      [](const AttemptFile& a, const AttemptFile& b) { return a.started_ns < b.started_ns; });
  NewestAttempt found{newest->run_id, {}};
  std::vector<std::string> left_out;
  for (const AttemptFile& file : files) {
    if (file.run_id != found.run_id)
      left_out.push_back(fmt::format("{} ({})", file.path, FormatDate(file.started_ns)));
  }
  if (left_out.empty()) return found;
  found.notes.push_back(
      fmt::format("only the newest attempt was read (run id '{}'); left out, of other attempts: {}",
                  found.run_id, JoinFirst(left_out)));
  return found;
}

}  // namespace traceinject
