// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/trace_databases.h"

#include "analyzer/import/nsys/nsys_sqlite.h"
#include "analyzer/import/nsys/nsys_tables.h"
#include "analyzer/import/rpd/rpd_sqlite.h"

namespace traceinject {
namespace {

constexpr TraceDatabase kTraceDatabases[] = {{kNsysSource, IsNsysExport, ReadNsysSqlite},
                                             {kRpdSource, IsRpd, ReadRpd}};

}  // namespace

const TraceDatabase* FindTrace(const Database& database) {
  for (const TraceDatabase& trace : kTraceDatabases) {
    if (trace.is(database)) return &trace;
  }
  return nullptr;
}

}  // namespace traceinject
