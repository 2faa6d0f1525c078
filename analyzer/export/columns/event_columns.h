// SPDX-License-Identifier: Apache-2.0
// The events of a run as tables: one table for each kind, one row for each event.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analyzer/export/columns/column_stream.h"
#include "analyzer/import/source/recorded_file.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Tables are named as the views of recordings (schemas/views.sql). Times are relative to the run's
// first GPU operation, as those of reports are. "process" counts the processes in the order of
// Report.sources. Rows are by process, GPU, and start. Empty: there is no such table. The run must
// outlive what is returned. O(rows) to write a column.
std::optional<ColumnTable> EventColumns(const Run& run, std::string_view table);

// What has to be read of a recording for these columns.
EventTables TablesOf(const ColumnTable& table);

// "kernels, memcpys, ...".
std::string EventTableNames();

}  // namespace traceinject
