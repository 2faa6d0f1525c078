// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/run_db/run_db_dictionaries.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Reads the small tables that nothing refers to into the ranks of `file`: gaps, clocks, health,
// facts about the machine.
Status ReadRunDbSideTables(RunDbRows& rows, const RunDbDictionaries& dictionaries,
                           RecordedFile& file);

}  // namespace traceinject
