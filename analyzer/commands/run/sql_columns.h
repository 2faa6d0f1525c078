// SPDX-License-Identifier: Apache-2.0
// Query results as columns. Whatever a query of SQL gives, each column has one type: that which all
// of its values fit into.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/commands/shared/sql_rows.h"
#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"
#include "analyzer/export/columns/column_stream.h"

namespace traceinject {

// What follows the name of a recording in which a query gives other columns than in those before.
inline constexpr char kOtherColumns[] = "the query returns different columns here than before";

class SqlColumns {
 public:
  SqlColumns();
  ~SqlColumns();
  SqlColumns(const SqlColumns&) = delete;
  SqlColumns& operator=(const SqlColumns&) = delete;

  // The rows of the one statement in `sql`, which may only read; of one of several recordings with
  // a column "rank" in front.
  Status Add(const Database& database, std::string_view sql, const std::optional<SqlCell>& rank);
  // Call once, last.
  ColumnTable Take(std::string name);

 private:
  class Values;
  std::uint64_t rows_ = 0;
  std::vector<std::unique_ptr<Values>> columns_;
};

}  // namespace traceinject
