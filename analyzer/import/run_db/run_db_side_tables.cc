// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/run_db_side_tables.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "analyzer/import/source/trace_source.h"

namespace traceinject {
namespace {

class SideTableReader {
 public:
  SideTableReader(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file)
      : rows_(rows), dictionaries_(dictionaries), file_(file) {}

  Status Read() {
    using Part = Status (SideTableReader::*)();
    constexpr std::array<Part, 4> kParts = {
        &SideTableReader::ReadGaps, &SideTableReader::ReadClocks, &SideTableReader::ReadHealth,
        &SideTableReader::ReadFacts};
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

 private:
  // The rank that a column names; all where it is NULL.
  template <typename Do>
  void ForEachRankOf(EventTable table, const SqlRow& row, int column, Do act) {
    if (row.is_null(column)) {
      for (Rank& each : file_.ranks) act(each);
      return;
    }
    if (Rank* const rank = RankOf(table, row, column)) act(*rank);
  }
  // Null: there is none, which is counted.
  Rank* RankOf(TableName table, const SqlRow& row, int column) {
    const std::uint32_t process = dictionaries_.processes.Find(row.int64(column));
    if (process != kNone) return &file_.ranks[process];
    rows_.Count(table, RowProblem::kNoProcess);
    return nullptr;
  }

  // Before version 5 all processes of a file stopped recording as one, and shared its clocks.
  Status ReadGaps() {
    return rows_.ForEachRow(
        dictionaries_.tells_processes_apart()
            ? ColumnsOf(EventTable::kCaptureGap, "start, dur, reason, proc")
            : EventColumns{EventTable::kCaptureGap, "start, dur, reason, NULL"},
        [&](const SqlRow& row) {
          CaptureGap gap;
          gap.start = row.int64(0);
          if (!rows_.TimesOrOpen(EventTable::kCaptureGap, row, 1, gap.start, gap.end)) return;
          gap.reason = row.text(2);
          ForEachRankOf(EventTable::kCaptureGap, row, 3,
                        [&](Rank& each) { each.gaps.push_back(gap); });
        },
        "ORDER BY start");
  }

  Status ReadClocks() {
    return rows_.ForEachRow(
        dictionaries_.tells_processes_apart()
            ? ColumnsOf(EventTable::kClockPair, "realtime, monotonic, proc")
            : EventColumns{EventTable::kClockPair, "realtime, monotonic, NULL"},
        [&](const SqlRow& row) {
          if (!IsPlausible(row.int64(0)) || !IsPlausible(row.int64(1))) return;
          ForEachRankOf(EventTable::kClockPair, row, 2, [&](Rank& each) {
            each.clocks.realtime.push_back(row.int64(0));
            each.clocks.monotonic.push_back(row.int64(1));
          });
        },
        "ORDER BY rowid");
  }

  Status ReadHealth() {
    return rows_.ForEachRow(
        "health", "proc, source, counter, value, detail", [&](const SqlRow& row) {
          Rank* const rank = RankOf("health", row, 0);
          if (rank == nullptr) return;
          rank->health.push_back({std::string(row.text(1)), std::string(row.text(2)), row.int64(3),
                                  std::string(row.text(4))});
        });
  }

  Status ReadFacts() {
    // Before version 3 every value is known.
    const std::string_view columns = dictionaries_.schema_version >= 3
                                         ? "proc, kind, key, value, reason"
                                         : "proc, kind, key, value, ''";
    return rows_.ForEachRow("system_fact", columns, [&](const SqlRow& row) {
      Rank* const rank = RankOf("system_fact", row, 0);
      if (rank == nullptr) return;
      if (row.text(1) == kImportFact) return ReadImportFact(row.text(2), row.text(3), *rank);
      rank->facts.push_back({std::string(row.text(1)), std::string(row.text(2)),
                             std::string(row.text(3)), std::string(row.text(4))});
    });
  }

  // Of a file that was made from the trace of another profiler.
  void ReadImportFact(std::string_view key, std::string_view value, Rank& rank) {
    if (key == kSourceKey) rank.imported_from = FindTraceSource(&TraceSource::word, value).what;
    if (key.starts_with(kNotePrefix))
      file_.notes.push_back(fmt::format("{}: {}", rank.path, value));
  }

  RunDbRows& rows_;
  const RunDbDictionaries& dictionaries_;
  RecordedFile& file_;
};

}  // namespace

Status ReadRunDbSideTables(RunDbRows& rows, const RunDbDictionaries& dictionaries,
                           RecordedFile& file) {
  return SideTableReader(rows, dictionaries, file).Read();
}

}  // namespace traceinject
