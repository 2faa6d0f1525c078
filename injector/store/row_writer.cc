// SPDX-License-Identifier: Apache-2.0
#include "injector/store/row_writer.h"

#include <algorithm>
#include <string>

#include "injector/rows/event_tables.h"

namespace traceinject {
namespace {

// Appends the first column of all rows.
bool ReadIds(sqlite3* db, const std::string& sql, std::vector<std::uint32_t>* ids) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return false;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement)) == SQLITE_ROW)
    ids->push_back(static_cast<std::uint32_t>(sqlite3_column_int64(statement, 0)));
  return sqlite3_finalize(statement) == SQLITE_OK && step == SQLITE_DONE;
}

// Of these rows, those that are appended.
template <typename Row>
std::int64_t CountAppended(const std::vector<Row>& rows) {
  if constexpr (requires(const Row& row) { row.row; }) {
    return std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.row == 0; });
  } else {
    return static_cast<std::int64_t>(rows.size());
  }
}
// Collectives have ids of their own.
std::int64_t CountAppended(const std::vector<CollectiveRow>&) { return 0; }

constexpr std::size_t At(EventTable table) { return static_cast<std::size_t>(table); }

}  // namespace

bool RowWriter::Insert(const Batch& batch) { return statements_.Insert(batch, committed_.last); }

void RowWriter::Committed(const Batch& batch) {
  ForEachEventTable(batch, [&](EventTable table, const auto& rows) {
    committed_.last[At(table)] += CountAppended(rows);
  });
  for (std::size_t i = 0; i < kEventTables; ++i) removed_[i] += removed_now_[i];
  removed_now_ = {};
  std::int64_t& collective = committed_.last[At(EventTable::kCollective)];
  for (const CollectiveRow& row : batch.collectives) {
    collective = std::max(collective, static_cast<std::int64_t>(row.id));
  }
  for (const NvtxRow& row : batch.nvtx) {
    committed_.open_range = std::max(committed_.open_range, static_cast<std::int64_t>(row.row));
  }
}

bool RowWriter::RemoveUnknown(sqlite3* db) const {
  for (std::size_t i = 0; i < kEventTables; ++i) {
    std::string sql = "DELETE FROM ";
    sql.append(kEventTableInfos[i].name).append(" WHERE rowid > ");
    sql.append(std::to_string(committed_.last[i]));
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return false;
  }
  return true;
}

bool RowWriter::RemoveThrough(sqlite3* db, const RowBounds& bounds, std::int64_t time,
                              KeptIds* kept) {
  const auto remove = [&](EventTable table, const std::string& condition) {
    std::string sql = "DELETE FROM ";
    sql.append(InfoOf(table).name).append(" WHERE ").append(condition);
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return false;
    removed_now_[At(table)] += sqlite3_changes(db);
    return true;
  };
  const auto between = [](std::int64_t first, std::int64_t last) {
    return "rowid BETWEEN " + std::to_string(first) + " AND " + std::to_string(last);
  };
  const std::string ended = " AND start + dur <= " + std::to_string(time);
  for (std::size_t i = 0; i < kEventTables; ++i) {
    std::string condition = between(1, bounds.last[i]);
    const EventTable table{i};
    if (table == EventTable::kCollective) condition += ended;
    if (!remove(table, condition)) return false;
  }
  const std::string open_ranges = between(-bounds.open_range, -1);
  const std::int64_t forgotten = committed_.open_range - kMaxKeptOpen;
  return remove(EventTable::kNvtx, open_ranges + ended) &&
         remove(EventTable::kCaptureGap, "rowid < 0" + ended) &&
         remove(EventTable::kNvtx, between(-forgotten, -1) + " AND dur IS NULL") &&
         remove(EventTable::kCollective,
                between(1, committed_.last[At(EventTable::kCollective)] - kMaxKeptOpen) +
                    " AND dur IS NULL") &&
         ReadIds(db, "SELECT text FROM nvtx WHERE text IS NOT NULL AND " + open_ranges,
                 &kept->strings) &&
         ReadIds(db, "SELECT DISTINCT thread FROM nvtx WHERE " + open_ranges, &kept->threads) &&
         ReadIds(db,
                 "SELECT DISTINCT thread FROM collective WHERE " +
                     between(1, bounds.last[At(EventTable::kCollective)]),
                 &kept->threads);
}

bool RowWriter::StoreRemoved() {
  std::array<std::int64_t, static_cast<std::size_t>(Health::kCount)> expired{};
  for (std::size_t i = 0; i < kEventTables; ++i) {
    if (const Health id = kEventTableInfos[i].expired; id != kNotCounted)
      expired[static_cast<std::size_t>(id)] += removed_[i] + removed_now_[i];
  }
  for (std::size_t i = 0; i < expired.size(); ++i) {
    const HealthCounterInfo& info = kHealthCounters[i];
    if (expired[i] != 0 &&
        !statements_.Insert(
            HealthRow{std::string(info.source), std::string(info.counter), expired[i], {}}))
      return false;
  }
  return true;
}

}  // namespace traceinject
