// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string_view>

#include "analyzer/import/nsys/nsys_tables.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {

// Rows of an export of Nsight Systems, and what is wrong with them.
class NsysRows : public RunDbRows {
 public:
  NsysRows(const Database& database, ReadProgress& progress, const NsysTables& tables)
      : RunDbRows(database, progress), tables_(tables) {}

  const NsysTables& tables() const { return tables_; }

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
  const NsysTables& tables_;
};

}  // namespace traceinject
