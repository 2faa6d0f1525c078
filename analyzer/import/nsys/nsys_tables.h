// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/common/sqlite.h"
#include "analyzer/import/foreign/foreign_tables.h"

namespace traceinject {

Result<ForeignTables> FindNsysTables(const Database& database);

// Whether a database is an export of Nsight Systems (nsys export --type sqlite): by its tables,
// whatever its name is.
bool IsNsysExport(const Database& database);

}  // namespace traceinject
