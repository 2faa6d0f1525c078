// SPDX-License-Identifier: Apache-2.0
// What every reader of recordings and traces returns, and how it is told what to read.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/model/run.h"

namespace traceinject {

// All that one file holds. Times in `ranks` are relative to `base_ns`.
struct RecordedFile {
  std::int64_t base_ns = 0;        // CLOCK_REALTIME of time 0, ns since the epoch
  std::vector<Rank> ranks;         // one a row of `process`, at least one
  std::vector<std::string> notes;  // what was left out or repaired, in words
};

// Whether a reader mends what records contradict each other in (repair_operations.h), and joins
// them: what is to be stored as it was recorded is left as it is.
enum class Repairs { kDone, kLeftOut };

// How far a reader is; another thread may look at any time.
struct ReadProgress {
  std::atomic<std::uint64_t> rows{0};        // event rows read
  std::atomic<std::uint64_t> rows_total{0};  // of about this many; 0: not known yet
  std::atomic<bool> stop{false};             // set from outside: the reader shall give up
  unsigned threads = 1;                      // set before it begins: that it may use
};

// Tables of events, by their names in run_db.sql.
using EventTables = std::vector<std::string_view>;

// What to read of a file; the first rows, and the last seconds, only of one process: a file of
// several is read from its first to its last row.
struct ReadPart {
  // Of the tables of events only these, beside those of operations on GPUs, of clocks, and of gaps,
  // which tell when all else was and what can be trusted; empty: all.
  std::optional<EventTables> tables = std::nullopt;
  // Only about so many events, the first of every table (see Rank::read_until); 0: all.
  std::uint64_t most_rows = 0;
  // Only the last so many ns before the last thing that it shows, as a flight recorder would have
  // kept them (see Rank::kept_from); 0: all. Takes as long as these take, however long the file is.
  TimeNs last_ns = 0;
};

// What a reader that was stopped returns.
Error Stopped(const std::string& path);

}  // namespace traceinject
