// SPDX-License-Identifier: Apache-2.0
// Query results, and how they are written down.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

struct SqlCell {
  enum class Kind { kNull, kNumber, kText, kBlob } kind = Kind::kNull;
  std::string text;  // numbers in SQLite's notation, blobs as hexadecimal digits; empty for NULL
};

// Of the row that a statement stands at.
SqlCell CellOf(const Statement& row, int column);

struct SqlRows {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlCell>> rows;
};

// All rows of the one statement in `sql`, which may only read.
Result<SqlRows> Query(const Database& database, std::string_view sql);

// The one statement in `sql`, which may only read.
Result<Statement> PrepareQuery(const Database& database, std::string_view sql);

// The rows of the same one by one, so that none has to be held: the names of the columns, then each
// row, which may be taken.
Status QueryEach(const Database& database, std::string_view sql,
                 const std::function<void(const std::vector<std::string>&)>& visit_columns,
                 const std::function<void(std::vector<SqlCell>&)>& visit_row);

// Columns padded with spaces; numbers to the right. Control characters are shown as '?'.
std::string FormatRowsAsTable(const SqlRows& rows);
// RFC 4180, with a header; NULL is an empty field.
std::string FormatRowsAsCsv(const SqlRows& rows);
// Its lines.
std::string CsvHead(const std::vector<std::string>& columns);
std::string CsvRow(const std::vector<SqlCell>& cells);
// A list of objects, one a row, keyed by column.
std::string FormatRowsAsJson(const SqlRows& rows);

}  // namespace traceinject
