// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace traceinject {
namespace {

// One of them is in every export.
constexpr std::array<std::string_view, 8> kMarks = {"CUPTI_ACTIVITY_KIND_KERNEL",
                                                    "CUPTI_ACTIVITY_KIND_MEMCPY",
                                                    "CUPTI_ACTIVITY_KIND_MEMSET",
                                                    "CUPTI_ACTIVITY_KIND_RUNTIME",
                                                    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                                    "NVTX_EVENTS",
                                                    "META_DATA_EXPORT",
                                                    "TARGET_INFO_SESSION_START_TIME"};

}  // namespace

Result<NsysTables> NsysTables::Find(const Database& database) {
  // Views and virtual tables in place of a table could go on for ever.
  auto found = database.Prepare(
      "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c "
      "WHERE t.type = 'table' AND t.sql NOT LIKE 'CREATE VIRTUAL%'");
  if (!found.ok()) return Error{found.error()};
  NsysTables tables;
  for (;;) {
    const auto row = found.value().Step();
    if (!row.ok()) return Error{row.error()};
    if (!row.value()) return tables;
    tables.columns_[std::string(found.value().text(0))].emplace(found.value().text(1));
  }
}

bool NsysTables::Has(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(table);
  return found != columns_.end() && found->second.contains(column);
}

std::string NsysTables::Select(std::string_view table,
                               std::initializer_list<std::string_view> columns) const {
  std::string text;
  for (const std::string_view column : columns) {
    if (!text.empty()) text += ", ";
    text += Has(table, column) ? column : "NULL";
  }
  return text;
}

Status NsysTables::Expect(const std::string& path, std::string_view table,
                          std::initializer_list<std::string_view> columns) const {
  for (const std::string_view column : columns) {
    if (!Has(table, column))
      return Error{
          fmt::format("{}: the table {} lacks the column '{}' that nsys export --type sqlite "
                      "writes: the file is damaged, or another program wrote or changed it",
                      path, table, column)};
  }
  return Done{};
}

bool IsNsysExport(const Database& database) {
  const auto tables = NsysTables::Find(database);
  return tables.ok() && std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
           return tables.value().Has(mark);
         });
}

}  // namespace traceinject
