// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/sql_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/json_text.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"

namespace traceinject {
namespace {

// Whether nothing but space, semicolons and line comments is left.
bool IsBlank(std::string_view text) {
  for (;;) {
    const std::size_t first = text.find_first_not_of(" \t\r\n;");
    if (first == std::string_view::npos) return true;
    text.remove_prefix(first);
    if (!text.starts_with("--")) return false;
    const std::size_t line = text.find('\n');
    if (line == std::string_view::npos) return true;
    text.remove_prefix(line);
  }
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char letter : text) {
    if (letter == '"') field += '"';
    field += letter;
  }
  return field + "\"";
}

std::string JsonValue(const SqlCell& cell) {
  if (cell.kind == SqlCell::Kind::kNull) return "null";
  return cell.kind == SqlCell::Kind::kNumber ? cell.text : JsonString(cell.text);
}

}  // namespace

SqlCell CellOf(const Statement& row, int column) {
  switch (row.type(column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return {SqlCell::Kind::kNumber, std::string(row.text(column))};
    case SQLITE_FLOAT: {
      // JSON knows no infinity, and SQLite has no NaN.
      std::string text(row.text(column));
      const bool finite = text.find("nf") == std::string::npos;
      return {finite ? SqlCell::Kind::kNumber : SqlCell::Kind::kText, std::move(text)};
    }
    case SQLITE_BLOB: {
      std::string digits;
      for (const char byte : row.text(column))
        digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return {SqlCell::Kind::kBlob, std::move(digits)};
    }
    default:
      return {SqlCell::Kind::kText, std::string(row.text(column))};
  }
}

Result<SqlRows> Query(const Database& database, std::string_view sql) {
  SqlRows result;
  const Status read = QueryEach(
      database, sql, [&](const std::vector<std::string>& columns) { result.columns = columns; },
      [&](std::vector<SqlCell>& cells) { result.rows.push_back(std::move(cells)); });
  if (!read.ok()) return Error{read.error()};
  return result;
}

Result<Statement> PrepareQuery(const Database& database, std::string_view sql) {
  std::string_view rest;
  auto statement = database.Prepare(sql, &rest);
  if (!statement.ok()) return statement;
  if (!IsBlank(rest))
    return Error{fmt::format("{}: only one statement is allowed; found after the first: {}",
                             database.path(), rest)};
  if (!statement.value().read_only())
    return Error{fmt::format("{}: recordings are read-only; use SELECT", database.path())};
  return statement;
}

Status QueryEach(const Database& database, std::string_view sql,
                 const std::function<void(const std::vector<std::string>&)>& visit_columns,
                 const std::function<void(std::vector<SqlCell>&)>& visit_row) {
  auto statement = PrepareQuery(database, sql);
  if (!statement.ok()) return Error{statement.error()};
  Statement& row = statement.value();
  std::vector<std::string> columns;
  for (int column = 0; column < row.columns(); ++column)
    columns.emplace_back(row.column_name(column));
  visit_columns(columns);
  for (std::vector<SqlCell> cells;;) {
    const auto more = row.Step();
    if (!more.ok()) return Error{more.error()};
    if (!more.value()) return Done{};
    cells.clear();
    for (int column = 0; column < row.columns(); ++column) cells.push_back(CellOf(row, column));
    visit_row(cells);
  }
}

std::string FormatRowsAsTable(const SqlRows& rows) {
  TableText table;
  table.rows.push_back(rows.columns);
  table.align_right.assign(rows.columns.size(), true);
  for (const auto& row : rows.rows) {
    auto& cells = table.rows.emplace_back();
    for (std::size_t column = 0; column < row.size(); ++column) {
      const SqlCell& cell = row[column];
      const bool is_null = cell.kind == SqlCell::Kind::kNull;
      if (!is_null && cell.kind != SqlCell::Kind::kNumber) table.align_right[column] = false;
      cells.push_back(is_null ? "NULL" : Printable(cell.text));
    }
  }
  return FormatTable(table);
}

std::string CsvHead(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns)
    text += (&column == columns.data() ? "" : ",") + CsvField(column);
  return text + "\r\n";
}

std::string CsvRow(const std::vector<SqlCell>& cells) {
  std::string text;
  for (const SqlCell& cell : cells)
    text += (&cell == cells.data() ? "" : ",") + CsvField(cell.text);
  return text + "\r\n";
}

std::string FormatRowsAsCsv(const SqlRows& rows) {
  std::string text = CsvHead(rows.columns);
  for (const auto& row : rows.rows) text += CsvRow(row);
  return text;
}

std::string FormatRowsAsJson(const SqlRows& rows) {
  std::string text = "[";
  for (std::size_t i = 0; i < rows.rows.size(); ++i) {
    text += i > 0 ? ",\n {" : "\n {";
    for (std::size_t column = 0; column < rows.columns.size(); ++column) {
      if (column > 0) text += ", ";
      text += JsonString(rows.columns[column]) + ": " + JsonValue(rows.rows[i][column]);
    }
    text += "}";
  }
  return text + (rows.rows.empty() ? "]\n" : "\n]\n");
}

}  // namespace traceinject
