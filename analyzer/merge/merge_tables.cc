// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merge_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

namespace traceinject {
namespace {

// One fact a row about the file itself: a merged file has its own.
constexpr std::string_view kFileTable = "meta";

constexpr std::array<std::string_view, 6> kTimes = {"start",   "end",      "time",
                                                    "created", "realtime", "cupti"};
constexpr std::string_view kStart = "start", kDur = "dur";

bool IsNamed(std::string_view column, std::string_view word) {
  return column == word || column.ends_with("_" + std::string(word));
}

bool IsTime(std::string_view column) {
  return std::find(kTimes.begin(), kTimes.end(), column) != kTimes.end() || IsNamed(column, kStart);
}

std::string_view FirstWord(std::string_view text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_first_not_of(kLetters, begin) - begin);
}

// Column and table of the lines "name TYPE, -- -> table, ..." of a CREATE TABLE statement.
std::map<std::string_view, std::string_view> ArrowsIn(std::string_view sql) {
  constexpr std::string_view kArrow = "-- -> ";
  std::map<std::string_view, std::string_view> arrows;
  while (!sql.empty()) {
    const std::string_view line = sql.substr(0, sql.find('\n'));
    sql.remove_prefix(std::min(line.size() + 1, sql.size()));
    const std::size_t arrow = line.find(kArrow);
    if (arrow != std::string_view::npos)
      arrows.emplace(FirstWord(line), FirstWord(line.substr(arrow + kArrow.size())));
  }
  return arrows;
}

struct TableSql {
  std::string name, sql;
  std::optional<std::string> id;  // its column with the id of a row
};

// The one column that is the primary key, if it is a number.
Result<std::optional<std::string>> IdColumn(const Database& database, const std::string& table) {
  auto rows =
      database.Prepare(fmt::format("SELECT min(name) FROM pragma_table_info('{}') WHERE pk > 0 "
                                   "HAVING count(*) = 1 AND min(type) = 'INTEGER'",
                                   table));
  if (!rows.ok()) return Error{rows.error()};
  const auto row = rows.value().Step();
  if (!row.ok()) return Error{row.error()};
  if (!row.value()) return std::optional<std::string>();
  return std::optional(std::string(rows.value().text(0)));
}

Result<std::vector<TableSql>> TablesOf(const Database& database) {
  auto rows =
      database.Prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY rowid");
  if (!rows.ok()) return Error{rows.error()};
  std::vector<TableSql> tables;
  for (;;) {
    const auto row = rows.value().Step();
    if (!row.ok()) return Error{row.error()};
    if (!row.value()) return tables;
    TableSql table{std::string(rows.value().text(0)), std::string(rows.value().text(1)), {}};
    if (table.name == kFileTable) continue;
    auto id = IdColumn(database, table.name);
    if (!id.ok()) return Error{id.error()};
    table.id = std::move(id).value();
    tables.push_back(std::move(table));
  }
}

class Describer {
 public:
  Describer(const std::vector<TableSql>& tables, const TableSql& table,
            const std::vector<std::string>& columns)
      : tables_(tables), table_(table), columns_(columns), arrows_(ArrowsIn(table.sql)) {}

  MergeTable Describe() const {
    MergeTable described{table_.name, {}};
    for (const std::string& name : columns_) described.columns.push_back(DescribeColumn(name));
    return described;
  }

 private:
  MergeColumn DescribeColumn(const std::string& name) const {
    if (table_.id == name) return {name, ColumnKind::kOwnId};
    if (const auto target = TargetOf(name)) return {name, ColumnKind::kReference, *target};
    if (IsTime(name)) return {name, ColumnKind::kTime};
    if (const auto start = StartOf(name)) return {name, ColumnKind::kDuration, *start};
    return {name, ColumnKind::kCopied};
  }

  // The table that a column refers to; not one whose rows have no id.
  std::optional<std::size_t> TargetOf(const std::string& column) const {
    const auto arrow = arrows_.find(column);
    if (arrow == arrows_.end()) return std::nullopt;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      if (tables_[i].name == arrow->second && tables_[i].id) return i;
    }
    return std::nullopt;
  }

  // The column at which a duration begins.
  std::optional<std::size_t> StartOf(const std::string& column) const {
    if (!IsNamed(column, kDur)) return std::nullopt;
    const std::string start = column.substr(0, column.size() - kDur.size()) + std::string(kStart);
    const auto found = std::find(columns_.begin(), columns_.end(), start);
    if (found == columns_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - columns_.begin());
  }

  const std::vector<TableSql>& tables_;
  const TableSql& table_;
  const std::vector<std::string>& columns_;
  const std::map<std::string_view, std::string_view> arrows_;
};

}  // namespace

Result<std::vector<std::string>> ColumnsOf(const Database& database, std::string_view table) {
  auto rows = database.Prepare(fmt::format("SELECT name FROM pragma_table_info('{}')", table));
  if (!rows.ok()) return Error{rows.error()};
  std::vector<std::string> columns;
  for (;;) {
    const auto row = rows.value().Step();
    if (!row.ok()) return Error{row.error()};
    if (!row.value()) return columns;
    columns.emplace_back(rows.value().text(0));
  }
}

Result<std::vector<MergeTable>> DescribeTables(const Database& database) {
  const auto tables = TablesOf(database);
  if (!tables.ok()) return Error{tables.error()};
  std::vector<MergeTable> described;
  for (const TableSql& table : tables.value()) {
    const auto columns = ColumnsOf(database, table.name);
    if (!columns.ok()) return Error{columns.error()};
    described.push_back(Describer(tables.value(), table, columns.value()).Describe());
  }
  return described;
}

}  // namespace traceinject
