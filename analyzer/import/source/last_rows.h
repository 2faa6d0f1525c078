// SPDX-License-Identifier: Apache-2.0
// Where in the tables of a recording its last seconds begin.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/model/run.h"

namespace traceinject {

struct LastRows {
  struct Part {
    std::int64_t first = 0;  // rowid of the first row that may have ended then or later
    std::uint64_t rows = 0;  // from it on, about
  };
  TimeNs from = 0;                                // when the last seconds begin
  std::map<std::string, Part, std::less<>> part;  // by table, of those with rows
};

// The last `last_ns` before the last thing that the recording of one process shows. Tables of
// events are append-only, so these lie at their ends: O(log rows) pages are read. Empty: nothing
// was recorded.
Result<std::optional<LastRows>> FindLastRows(const Database& recording, TimeNs last_ns);

}  // namespace traceinject
