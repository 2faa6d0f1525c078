// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/run_db/run_db_dictionaries.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Reads the tables of events into the ranks of `file`, in the order of the tables: of GPUs
// (run_db_operations.h) and of the host, and the small ones (run_db_side_tables.h); CUDA calls,
// half of all rows, beside the others where a second connection can be had, and both by several
// threads (read_ahead.h) where four or more may be used.
Status ReadRunDbEvents(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file);

}  // namespace traceinject
