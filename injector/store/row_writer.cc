// SPDX-License-Identifier: Apache-2.0
#include "injector/store/row_writer.h"

#include <algorithm>
#include <string>

#include "schemas/health_counters.h"

namespace traceinject {
namespace {

struct EventTableInfo {
  const char* name;
  Health expired;  // what counts the rows that were removed; kCount: nothing
};

// The tables that are only appended to, in the order of RowWriter::EventCounts.
constexpr EventTableInfo kEventTableInfos[] = {
    {"kernel", Health::kKernelExpired},
    {"memcpy", Health::kMemcpyExpired},
    {"memset", Health::kMemsetExpired},
    {"memory_operation", Health::kMemoryExpired},
    {"api", Health::kApiExpired},
    {"sync", Health::kSyncExpired},
    {"nvtx", Health::kNvtxExpired},
    {"collective", Health::kNcclExpired},
    {"collective_plan", Health::kNcclPluginExpired},
    {"gemm", Health::kGemmExpired},
    {"attention", Health::kAttentionExpired},
    {"data_wait", Health::kDataWaitExpired},
    {"step_mark", Health::kStepMarkExpired},
    {"host_span", Health::kHostSpanExpired},
    {"device_sample", Health::kDeviceSampleExpired},
    {"device_slow_sample", Health::kDeviceSampleExpired},
    {"allocator_sample", Health::kAllocatorSampleExpired},
    {"host_sample", Health::kHostSampleExpired},
    {"worker_sample", Health::kWorkerSampleExpired},
    {"stack_sample", Health::kStackExpired},
    {"clock_pair", Health::kCount},
    {"capture_gap", Health::kCount}};
constexpr std::size_t kNvtxTable = 6, kCollectiveTable = 7, kGapTable = 21;

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
  return std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.row == 0; });
}

}  // namespace

bool RowWriter::Insert(const Batch& batch) {
  return statements_.Insert(batch, committed_.last[kNvtxTable], committed_.last[kGapTable]);
}

RowWriter::EventCounts RowWriter::CountEvents(const Batch& batch) {
  static_assert(sizeof kEventTableInfos / sizeof *kEventTableInfos == kEventTables);
  const auto count = [](const auto& rows) { return static_cast<std::int64_t>(rows.size()); };
  return {count(batch.kernels),
          count(batch.memcpys),
          count(batch.memsets),
          count(batch.memory_operations),
          count(batch.apis),
          count(batch.syncs),
          CountAppended(batch.nvtx),
          0,  // collectives have ids of their own
          count(batch.collective_plans),
          count(batch.gemms),
          count(batch.attentions),
          count(batch.data_waits),
          count(batch.step_marks),
          count(batch.host_spans),
          count(batch.device_samples),
          count(batch.device_slow_samples),
          count(batch.allocator_samples),
          count(batch.host_samples),
          count(batch.worker_samples),
          count(batch.stack_samples),
          count(batch.clock_pairs),
          CountAppended(batch.gaps)};
}

void RowWriter::Committed(const Batch& batch) {
  const EventCounts added = CountEvents(batch);
  for (std::size_t i = 0; i < kEventTables; ++i) {
    committed_.last[i] += added[i];
    removed_[i] += removed_now_[i];
  }
  removed_now_ = {};
  std::int64_t& collective = committed_.last[kCollectiveTable];
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
  const auto remove = [&](std::size_t table, const std::string& condition) {
    const std::string sql =
        std::string("DELETE FROM ") + kEventTableInfos[table].name + " WHERE " + condition;
    if (sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return false;
    removed_now_[table] += sqlite3_changes(db);
    return true;
  };
  const auto between = [](std::int64_t first, std::int64_t last) {
    return "rowid BETWEEN " + std::to_string(first) + " AND " + std::to_string(last);
  };
  const std::string ended = " AND start + dur <= " + std::to_string(time);
  for (std::size_t i = 0; i < kEventTables; ++i) {
    std::string condition = between(1, bounds.last[i]);
    if (i == kCollectiveTable) condition += ended;
    if (!remove(i, condition)) return false;
  }
  const std::string open_ranges = between(-bounds.open_range, -1);
  const std::int64_t forgotten = committed_.open_range - kMaxKeptOpen;
  return remove(kNvtxTable, open_ranges + ended) && remove(kGapTable, "rowid < 0" + ended) &&
         remove(kNvtxTable, between(-forgotten, -1) + " AND dur IS NULL") &&
         remove(kCollectiveTable, between(1, committed_.last[kCollectiveTable] - kMaxKeptOpen) +
                                      " AND dur IS NULL") &&
         ReadIds(db, "SELECT text FROM nvtx WHERE text IS NOT NULL AND " + open_ranges,
                 &kept->strings) &&
         ReadIds(db, "SELECT DISTINCT thread FROM nvtx WHERE " + open_ranges, &kept->threads) &&
         ReadIds(db,
                 "SELECT DISTINCT thread FROM collective WHERE " +
                     between(1, bounds.last[kCollectiveTable]),
                 &kept->threads);
}

bool RowWriter::StoreRemoved() {
  std::array<std::int64_t, static_cast<std::size_t>(Health::kCount)> expired{};
  for (std::size_t i = 0; i < kEventTables; ++i) {
    if (const Health id = kEventTableInfos[i].expired; id != Health::kCount)
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
