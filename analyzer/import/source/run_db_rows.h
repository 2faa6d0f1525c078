// SPDX-License-Identifier: Apache-2.0
// Rows of the tables of a run.db, and what is wrong with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/common/sqlite.h"
#include "analyzer/import/source/column_ranges.h"
#include "analyzer/import/source/event_columns.h"
#include "analyzer/import/source/last_rows.h"
#include "analyzer/import/source/read_ahead.h"
#include "analyzer/import/source/recorded_file.h"

namespace traceinject {

// Why a row was left out or repaired.
enum class RowProblem {
  kNoStream,
  kNoDevice,
  kNoShape,
  kNoThread,
  kNoName,
  kNameless,
  kNoCommunicator,
  kNoLoader,
  kNoCollective,
  kNoWorker,
  kNoCall,
  kNoProcess,
  kNoStack,
  kNoCounterSet,
  kUnreadable,
  kNoTime,
  kTime,
  kNegative,
  kUnknownKind
};

// Times further than this from the base (36 years) are no times of this recording. Keeps all later
// sums from overflowing.
inline constexpr TimeNs kFarthestNs = TimeNs{1} << 60;
constexpr bool IsPlausible(TimeNs time_ns) {
  return time_ns >= -kFarthestNs && time_ns <= kFarthestNs;
}

// The nearest number of 32 bits.
constexpr std::int32_t Narrow(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

class RunDbRows {
 public:
  RunDbRows(const Database& database, ReadProgress& progress)
      : database_(database), progress_(progress) {}

  // For another thread: the same over another connection to the same recording, with no problems
  // counted so far.
  RunDbRows(const RunDbRows& other, const Database& database)
      : database_(database),
        progress_(other.progress_),
        rows_of_(other.rows_of_),
        share_(other.share_),
        last_(other.last_),
        left_out_(other.left_out_),
        checks_values_(other.checks_values_) {}
  // Takes over what that one found.
  void Add(const RunDbRows& other);

  // Calls visit(row) for every row. `columns` are part of the schema, so a failure to prepare
  // means a damaged file. Values that cannot be (RangesOf) are counted, and NULL to the visitor.
  template <typename Visit>
  Status ForEachRow(const EventColumns& of, Visit visit, std::string_view order = "") {
    return ForEachRow(InfoOf(of.table).name, of.columns, std::move(visit), order);
  }
  template <typename Visit>
  Status ForEachRow(std::string_view table, std::string_view columns, Visit visit,
                    std::string_view order = "") {
    if (IsLeftOut(table)) return Done{};
    if (const Status stored = ExpectStored(table); !stored.ok()) return stored;
    constexpr std::uint64_t kReportEvery = 1 << 14;
    const std::uint64_t most = MostRows(table);
    const std::vector<ColumnRange> ranges =
        checks_values_ ? RangesOf(table, columns) : std::vector<ColumnRange>();
    std::uint64_t count = 0;
    const Status read = ReadRows(table, columns, order, [&](const SqlRow& row) {
      if (count == most) {
        read_until_ = std::min<TimeNs>(read_until_, row.int64(0));
        return false;
      }
      if (ranges.empty())
        visit(row);
      else
        visit(Checked(table, ranges, row));
      if (++count % kReportEvery != 0) return true;
      progress_.rows += kReportEvery;
      return !progress_.stop;
    });
    if (!read.ok()) return read;
    if (progress_.stop) return Stopped(database_.path());
    progress_.rows += count % kReportEvery;
    return Done{};
  }

  // From now on visits no row of other tables of events, as ReadPart::tables has it. Before
  // CountRows.
  void ReadOnlyTables(const EventTables& tables);

  // From now on values are handed on as they are, for who copies them.
  void KeepImpossible() { checks_values_ = false; }

  // From now on long tables of numbers are read by so many threads more (read_ahead.h), in their
  // order as before; these are connections to the same file. None: no longer.
  void ReadAheadOver(std::vector<Database> beside) { beside_ = std::move(beside); }

  // Whether the file has such a table, or a view of this name.
  Result<bool> HasTable(std::string_view table) const;

  // An error unless `table` is an ordinary table: a view or virtual table in its place could go on
  // for ever.
  Status ExpectStored(std::string_view table);

  // Sets progress.rows_total, and what RowsOf gives: of the tables that most rows are in.
  Status CountRows();
  Status CountRows(std::span<const std::string_view> tables);
  // Of the tables that CountRows counted, read only the first rows from now on, about so many in
  // all; each table gets its share. Their first column has to be a time.
  void ReadOnlyFirst(std::uint64_t rows);
  // The time of the earliest row that was left unread; kOpen: there is none.
  TimeNs read_until() const { return read_until_; }
  // Read of tables of events only what may have ended in the last `last_ns`, from now on. After
  // CountRows.
  Status ReadOnlyLast(TimeNs last_ns);
  // When these begin; empty: all was asked for.
  std::optional<TimeNs> read_from() const {
    return last_ ? std::optional(last_->from) : std::nullopt;
  }
  // About how many rows a table of events has, to make room for them at once. 0: not known.
  std::size_t RowsOf(TableName table) const;
  // The same of one of several processes, which are taken to have about as many rows each.
  std::size_t RoomFor(TableName table, std::size_t processes) const {
    const std::size_t rows = RowsOf(table);
    return processes <= 1 ? rows : rows / processes * 9 / 8;
  }

  void Count(TableName table, RowProblem problem) {
    ++problems_[{std::string(std::string_view(table)), problem}];
  }

  // start and end of a row from (start, dur); false if the row cannot be placed in time.
  bool Times(TableName table, TimeNs start, TimeNs dur, TimeNs& end) {
    if (!IsPlausible(start) || !IsPlausible(dur) || dur < 0)
      return RepairTimes(table, start, dur, end);
    end = start + dur;
    return true;
  }
  // The same where an absent duration means open.
  bool TimesOrOpen(TableName table, const SqlRow& row, int dur_column, TimeNs start, TimeNs& end);

  // A sentence for each problem that was counted.
  std::vector<std::string> Notes() const;

  const Database& database() const { return database_; }
  // That may be used to read.
  unsigned threads() const { return progress_.threads; }

 private:
  SqlRow Checked(std::string_view table, const std::vector<ColumnRange>& ranges, SqlRow row) {
    for (const ColumnRange& range : ranges) {
      const std::int64_t value = row.int64(range.index);
      if (value >= range.least && value <= range.most) continue;
      if (row.is_null(range.index)) continue;
      CountImpossible(table, range);
      row.SetNull(range.index);
    }
    return row;
  }
  void CountImpossible(std::string_view table, const ColumnRange& range);
  bool RepairTimes(std::string_view table, TimeNs start, TimeNs dur, TimeNs& end);
  Status ReadRows(std::string_view table, std::string_view columns, std::string_view order,
                  const std::function<bool(const SqlRow&)>& visit) const;
  // Empty: its rows are better read by one thread.
  std::optional<RowSpan> SpanToReadAhead(std::string_view table, std::string_view order) const;
  Result<Statement> PrepareRows(std::string_view table, std::string_view columns,
                                std::string_view order) const;
  std::uint64_t MostRows(std::string_view table) const;
  bool IsLeftOut(std::string_view table) const;
  // Null: all of the table is read.
  const LastRows::Part* LastPartOf(std::string_view table) const;
  // 0 if it cannot be told.
  std::uint64_t PragmaNumber(std::string_view pragma) const;

  const Database& database_;
  ReadProgress& progress_;
  std::vector<Database> beside_;
  std::map<std::string, std::size_t, std::less<>> rows_of_;
  double share_ = 1;  // of the rows of each table, to be read
  TimeNs read_until_ = kOpen;
  std::optional<LastRows> last_;  // empty: all are read
  EventTables left_out_;
  bool checks_values_ = true;
  std::map<std::pair<std::string, RowProblem>, std::int64_t> problems_;
  std::map<std::string, std::int64_t> impossible_;  // values, by what is wrong with them
};

}  // namespace traceinject
