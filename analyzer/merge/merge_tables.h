// SPDX-License-Identifier: Apache-2.0
// What becomes of each column of schemas/run_db.sql when recordings are put into one file. Nothing
// here names a column twice: the schema's own comments and names say it (see the conventions at its
// top).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

enum class ColumnKind {
  kCopied,
  kOwnId,      // the table's own id, which others refer to
  kReference,  // to the id of a table
  kTime,
  kDuration,
};

struct MergeColumn {
  std::string name;
  ColumnKind kind = ColumnKind::kCopied;
  // kReference: which of the tables; kDuration: the column at which it begins.
  std::size_t other = 0;
};

struct MergeTable {
  std::string name;
  std::vector<MergeColumn> columns;
};

// All tables that hold rows of processes, in the order of the schema. `database`: made from
// run_db.sql.
Result<std::vector<MergeTable>> DescribeTables(const Database& database);

// The columns of a table, in their order; none: there is no such table.
Result<std::vector<std::string>> ColumnsOf(const Database& database, std::string_view table);

}  // namespace traceinject
