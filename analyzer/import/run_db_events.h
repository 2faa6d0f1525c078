// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/run_db_dictionaries.h"
#include "analyzer/import/run_db_rows.h"

namespace traceinject {

// Reads the tables of events, and the small ones that nothing refers to, into the ranks of `file`,
// in the order of the tables.
Status ReadRunDbEvents(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file);

}  // namespace traceinject
