// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/sql_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/common/json_text.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"

namespace traceinject {
namespace {

SqlCell Cell(const Statement& row, int column) {
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

Result<SqlRows> Query(const Database& database, std::string_view sql) {
  std::string_view rest;
  auto statement = database.Prepare(sql, &rest);
  if (!statement.ok()) return Error{statement.error()};
  Statement& row = statement.value();
  if (!IsBlank(rest))
    return Error{fmt::format("{}: one statement at a time; this follows the first: {}",
                             database.path(), rest)};
  if (!row.read_only())
    return Error{fmt::format("{}: recordings are only read; use SELECT", database.path())};
  SqlRows result;
  for (int column = 0; column < row.columns(); ++column)
    result.columns.emplace_back(row.column_name(column));
  for (;;) {
    const auto more = row.Step();
    if (!more.ok()) return Error{more.error()};
    if (!more.value()) return result;
    auto& cells = result.rows.emplace_back();
    for (int column = 0; column < row.columns(); ++column) cells.push_back(Cell(row, column));
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

std::string FormatRowsAsCsv(const SqlRows& rows) {
  std::string text;
  for (std::size_t column = 0; column < rows.columns.size(); ++column) {
    if (column > 0) text += ',';
    text += CsvField(rows.columns[column]);
  }
  text += "\r\n";
  for (const auto& row : rows.rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) text += ',';
      text += CsvField(row[column].text);
    }
    text += "\r\n";
  }
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
