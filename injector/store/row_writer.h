// SPDX-License-Identifier: Apache-2.0
// Rows of a batch into the tables of schemas/run_db.sql, and out of them again.
//
// A commit whose outcome is unknown can be undone: event tables are only appended to, with rowids
// from 1 without holes, so that rows above the known number are those of that commit. All other
// rows replace themselves when they are written again.
//
// NVTX rows get explicit rowids: ranges stored while open (NvtxRow::row) take -row, all others
// count up from 1. So the first can be replaced when they close, never collide with the second, and
// the second always append at the end of the table, which keeps its pages full.
//
// Rows can be removed again from the oldest on (slices.h); those two kinds by when they ended.
//
// Collectives have ids from the caller, which may come out of order: one below the highest that is
// committed replaces itself when it is written again.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "injector/rows/rows.h"
#include "injector/store/row_statements.h"

namespace traceinject {

// The last rows of the event tables at a moment.
struct RowBounds {
  static constexpr std::size_t kEventTables = 22;
  std::array<std::int64_t, kEventTables> last{};  // rowids
  std::int64_t open_range = 0;                    // NvtxRow::row
};

class RowWriter {
 public:
  // Ranges and operations that never end are kept up to so many later ones.
  static constexpr std::int64_t kMaxKeptOpen = 65'536;

  // Prepares for a connection to a database that has the schema. False on an error of SQLite.
  bool Prepare(sqlite3* db) { return statements_.Prepare(db); }

  // Must run before the connection is closed.
  void Finalize() { statements_.Finalize(); }

  // Inserts all rows, dictionaries first, inside the caller's transaction. False on an error of
  // SQLite. O(rows).
  bool Insert(const Batch& batch);

  // The transaction of `batch` is known to be committed.
  void Committed(const Batch& batch);

  // Deletes the events of transactions that are in the database although Committed() was not
  // reported of them. Inside the caller's transaction, after Prepare. False on an error of SQLite.
  // O(log rows + events deleted).
  bool RemoveUnknown(sqlite3* db) const;

  // The last rows that are known to be committed.
  const RowBounds& bounds() const { return committed_; }

  // Deletes the rows up to `bounds`, inside the caller's transaction. Ranges that were stored while
  // open, and operations, go only if they ended by `time`; texts of those that stay are added to
  // `kept`, and their threads. What was removed is counted in `health` by this transaction, and for
  // good once it is Committed(). False on an error of SQLite. O(log rows + rows deleted).
  bool RemoveThrough(sqlite3* db, const RowBounds& bounds, std::int64_t time, KeptIds* kept);
  // At the beginning of a transaction: what an earlier one that failed removed is there again.
  void BeginRemoving() { removed_now_ = {}; }
  // At its end, after RemoveThrough.
  bool StoreRemoved();

 private:
  static constexpr std::size_t kEventTables = RowBounds::kEventTables;
  using EventCounts = std::array<std::int64_t, kEventTables>;

  static EventCounts CountEvents(const Batch& batch);

  RowStatements statements_;
  // By event table, in the order of kEventTableInfos.
  RowBounds committed_;
  EventCounts removed_{}, removed_now_{};
};

}  // namespace traceinject
