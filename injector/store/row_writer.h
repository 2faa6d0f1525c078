// SPDX-License-Identifier: Apache-2.0
// Rows of a batch into the tables of schemas/run_db.sql, through statements that stay prepared.
//
// A commit whose outcome is unknown can be undone: event tables are only appended to, with rowids
// from 1 without holes, so that rows above the known number are those of that commit. All other
// rows replace themselves when they are written again.
//
// NVTX rows get explicit rowids: ranges stored while open (NvtxRow::row) take -row, all others
// count up from 1. So the first can be replaced when they close, never collide with the second, and
// the second always append at the end of the table, which keeps its pages full.
//
// Collectives have ids from the caller, which may come out of order: one below the highest that is
// committed replaces itself when it is written again.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "injector/store/rows.h"

namespace traceinject {

class RowWriter {
 public:
  RowWriter() = default;
  ~RowWriter() { Finalize(); }
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  // Prepares for a connection to a database that has the schema. False on an error of SQLite.
  bool Prepare(sqlite3* db);

  // Must run before the connection is closed.
  void Finalize();

  // Inserts all rows, dictionaries first, inside the caller's transaction. False on an error of
  // SQLite. O(rows).
  bool Insert(const Batch& batch);

  // The transaction of `batch` is known to be committed.
  void Committed(const Batch& batch);

  // Deletes the events of transactions that are in the database although Committed() was not told
  // of them. Inside the caller's transaction, after Prepare. False on an error of SQLite.
  // O(log rows + events deleted).
  bool RemoveUnknown(sqlite3* db) const;

 private:
  static constexpr std::size_t kStatements = 40;
  static constexpr std::size_t kEventTables = 21;
  using EventCounts = std::array<std::int64_t, kEventTables>;

  static EventCounts CountEvents(const Batch& batch);

  std::array<sqlite3_stmt*, kStatements> statements_{};
  // The highest rowid by event table, in the order of kEventTableNames.
  EventCounts committed_{};
};

}  // namespace traceinject
