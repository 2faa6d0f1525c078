// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/run_db/run_db_dictionaries.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Reads the tables of samples, of devices, threads and workers, into the ranks of `file`. They came
// with version 3 of the schema.
Status ReadRunDbSamples(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file);

}  // namespace traceinject
