// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/run_db/run_db_dictionaries.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Reads the tables of events, and the small ones that nothing refers to, into the ranks of `file`,
// in the order of the tables; CUDA calls, half of all rows, beside the others where a second
// connection can be had.
Status ReadRunDbEvents(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file);

}  // namespace traceinject
