// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/import/run_db/run_db_dictionaries.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Reads the tables of what GPUs did, kernels, copies, and memsets, into the ranks of `file`.
Status ReadRunDbOperations(RunDbRows& rows, const RunDbDictionaries& dictionaries,
                           RecordedFile& file);

}  // namespace traceinject
