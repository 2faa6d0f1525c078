// SPDX-License-Identifier: Apache-2.0
// Other profilers that write SQLite files: how their files are told apart, and who reads them.
#pragma once

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/recorded_file.h"
#include "analyzer/import/source/trace_source.h"

namespace traceinject {

struct TraceDatabase {
  TraceSource source;
  bool (*is)(const Database& database);
  Result<RecordedFile> (*read)(const Database& database, ReadProgress& progress, Repairs repairs);
};

// Null: none of them wrote it.
const TraceDatabase* FindTrace(const Database& database);

}  // namespace traceinject
