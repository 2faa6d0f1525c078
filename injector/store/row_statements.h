// SPDX-License-Identifier: Apache-2.0
// What the columns of each kind of row are, in the tables of schemas/run_db.sql: statements that
// stay prepared, and the values that go into them.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "injector/rows/rows.h"
#include "schemas/event_tables.h"

namespace traceinject {

// By EventTable.
using LastRowids = std::array<std::int64_t, kEventTables>;

class RowStatements {
 public:
  RowStatements() = default;
  ~RowStatements() { Finalize(); }
  RowStatements(const RowStatements&) = delete;
  RowStatements& operator=(const RowStatements&) = delete;

  // For a connection to a database that has the schema. False on an error of SQLite.
  bool Prepare(sqlite3* db);

  // Must run before the connection is closed.
  void Finalize();

  // Inserts all rows, dictionaries first, inside the caller's transaction. Rows that are appended
  // and get their rowid from here follow the last of their table. False on an error of SQLite.
  // O(rows).
  bool Insert(const Batch& batch, const LastRowids& last);
  bool Insert(const HealthRow& row);

 private:
  static constexpr std::size_t kStatements = 32;

  bool InsertDictionaries(const Batch& batch);
  bool InsertEvents(const Batch& batch, const LastRowids& last);
  template <typename Row>
  bool InsertInto(EventTable table, const std::vector<Row>& rows, std::int64_t last_rowid);
  bool Forget(const Batch& batch);

  std::array<sqlite3_stmt*, kStatements> statements_{};
  std::array<sqlite3_stmt*, kEventTables> events_{};
  // For the first row of a batch, with its rowid: SQLite would begin at 1 again once all rows of
  // the table were removed. The rest follow it, which is a tenth faster than to give each its own.
  std::array<sqlite3_stmt*, kEventTables> first_events_{};
};

}  // namespace traceinject
