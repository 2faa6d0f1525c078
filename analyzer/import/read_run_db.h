// SPDX-License-Identifier: Apache-2.0
// One run.db into columns.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
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
};

// What to read of a file of one process; those of several are read as a whole.
struct ReadPart {
  // Only about so many events, the first of every table (see Rank::read_until); 0: all.
  std::uint64_t most_rows = 0;
  // Only the last so many ns before the last thing that it shows, as a flight recorder would have
  // kept them (see Rank::kept_from); 0: all. Takes as long as these take, however long the file is.
  TimeNs last_ns = 0;
};

// Reads an open recording (see OpenRecording). Columns are sorted by (start, end), kernel names
// demangled and classified, GPU operations joined to the calls that launched them. O(n log n) time,
// O(n) memory.
//
// Rows that cannot be right (ids without a dictionary row, times beyond any clock) are left out,
// negative durations become 0; both are counted in `notes`. Missing tables or columns and damaged
// pages are errors: sentences with the path.
//
Result<RecordedFile> ReadRunDb(const Database& database, ReadProgress& progress,
                               ReadPart part = {});

// What a reader that was stopped returns.
Error Stopped(const std::string& path);

}  // namespace traceinject
