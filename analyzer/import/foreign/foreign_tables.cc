// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/foreign/foreign_tables.h"

#include <fmt/format.h>

namespace traceinject {

Result<ForeignTables> ForeignTables::Find(const Database& database, std::string_view writer) {
  // Views and virtual tables in place of a table could go on for ever.
  auto found = database.Prepare(
      "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c "
      "WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'");
  if (!found.ok()) return Error{found.error()};
  ForeignTables tables;
  tables.writer_ = writer;
  for (;;) {
    const auto row = found.value().Step();
    if (!row.ok()) return Error{row.error()};
    if (!row.value()) return tables;
    tables.columns_[std::string(found.value().text(0))].emplace(found.value().text(1));
  }
}

bool ForeignTables::Has(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.contains(column);
}

std::string ForeignTables::Select(std::string_view table,
                                  std::initializer_list<std::string_view> columns) const {
  std::string text;
  for (const std::string_view column : columns) {
    if (!text.empty()) text += ", ";
    text += Has(table, column) ? column : "NULL";
  }
  return text;
}

Status ForeignTables::Expect(const std::string& path, std::string_view table,
                             std::initializer_list<std::string_view> columns) const {
  for (const std::string_view column : columns) {
    if (!Has(table, column))
      return Error{
          fmt::format("{}: the table {} lacks the column '{}' that {} writes: the file is damaged, "
                      "or another program wrote or changed it",
                      path, table, column, writer_)};
  }
  return Done{};
}

}  // namespace traceinject
