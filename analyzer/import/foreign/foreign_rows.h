// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "analyzer/import/foreign/foreign_tables.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Rows of another profiler's file, and what is wrong with them.
class ForeignRows : public RunDbRows {
 public:
  ForeignRows(const Database& database, ReadProgress& progress, const ForeignTables& tables)
      : RunDbRows(database, progress), tables_(tables) {}

  const ForeignTables& tables() const { return tables_; }

  // Calls visit(row) with `columns` for the rows of a table, if there is one; those that the table
  // does not have are NULL. It is an error if one of `needed` is missing.
  template <typename Visit>
  Status ForEachRowOf(std::string_view table, std::initializer_list<std::string_view> needed,
                      std::initializer_list<std::string_view> columns, Visit visit,
                      std::string_view where = "") {
    if (!tables_.Has(table)) return Done{};
    const Status there = tables_.Expect(database().path(), table, needed);
    if (!there.ok()) return there;
    return ForEachRow(table, tables_.Select(table, columns), visit, where);
  }

 private:
  const ForeignTables& tables_;
};

}  // namespace traceinject
