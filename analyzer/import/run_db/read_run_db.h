// SPDX-License-Identifier: Apache-2.0
// One run.db into columns.
#pragma once

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

// Reads an open recording (see OpenRecording). Columns are sorted by (start, end), kernel names
// demangled and classified, GPU operations joined to the calls that launched them. O(n log n) time,
// O(n) memory.
//
// Rows that cannot be right (ids without a dictionary row, times beyond any clock) are left out,
// negative durations become 0; both are counted in `notes`. Missing tables or columns and damaged
// pages are errors: sentences with the path.
//
Result<RecordedFile> ReadRunDb(const Database& database, ReadProgress& progress,
                               const ReadPart& part = {});

}  // namespace traceinject
