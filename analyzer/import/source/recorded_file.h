// SPDX-License-Identifier: Apache-2.0
// What every reader of recordings and traces returns, and how it is told what to read.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
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
};

// What to read of a file of one process; those of several are read as a whole.
struct ReadPart {
  // Only about so many events, the first of every table (see Rank::read_until); 0: all.
  std::uint64_t most_rows = 0;
  // Only the last so many ns before the last thing that it shows, as a flight recorder would have
  // kept them (see Rank::kept_from); 0: all. Takes as long as these take, however long the file is.
  TimeNs last_ns = 0;
};

// What a reader that was stopped returns.
Error Stopped(const std::string& path);

}  // namespace traceinject
