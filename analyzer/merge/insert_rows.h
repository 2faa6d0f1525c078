// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/common/result.h"
#include "analyzer/common/sqlite.h"

namespace traceinject {

// Inserts a known number of rows into a table, many with one statement: for each statement SQLite
// looks for the end of the table anew, which takes as long as the row. Rows that break the table's
// rules are left out and counted.
class InsertRows {
 public:
  static Result<InsertRows> Into(const Database& database, std::string_view table,
                                 std::size_t columns, std::int64_t rows);

  // Where the values of the next row go: column c is parameter first() + c.
  Statement& statement() { return remaining_ % kAtOnce == 0 ? *many_ : one_; }
  int first() const { return static_cast<int>(bound_ * columns_) + 1; }
  // They are there.
  Status Add();

  std::int64_t inserted() const { return inserted_; }
  std::int64_t left_out() const { return left_out_; }

 private:
  static constexpr std::int64_t kAtOnce = 16;

  InsertRows(const Database& database, std::size_t columns, std::int64_t rows, Statement one)
      : database_(&database), columns_(columns), remaining_(rows), one_(std::move(one)) {}

  const Database* database_;
  std::size_t columns_;
  std::int64_t remaining_;  // rows not inserted yet: what is no multiple of kAtOnce goes one by one
  std::size_t bound_ = 0;   // of the rows of a statement
  std::int64_t inserted_ = 0, left_out_ = 0;
  Statement one_;
  std::optional<Statement> many_;
};

}  // namespace traceinject
