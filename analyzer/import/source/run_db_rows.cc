// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/run_db_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

// Fewer take one thread some 15 ms.
constexpr std::size_t kRowsToReadAhead = std::size_t{1} << 17;

std::string_view Explain(RowProblem problem) {
  switch (problem) {
    case RowProblem::kNoStream:
      return "left out: no row for the stream";
    case RowProblem::kNoDevice:
      return "left out: invalid device or stream";
    case RowProblem::kNoShape:
      return "left out: no row for the kernel shape";
    case RowProblem::kNoThread:
      return "left out: no row for the thread";
    case RowProblem::kNoName:
      return "left out: no row for the name";
    case RowProblem::kNameless:
      return "kept without a name: no row for it";
    case RowProblem::kNoCommunicator:
      return "kept with an unknown communicator: no row for it";
    case RowProblem::kNoLoader:
      return "kept with an unknown data loader: no row for it";
    case RowProblem::kNoCollective:
      return "left out: no row for the operation";
    case RowProblem::kNoWorker:
      return "left out: no row for the worker";
    case RowProblem::kNoCall:
      return "left out: no row for the call";
    case RowProblem::kNoProcess:
      return "left out: no such process, or no such device";
    case RowProblem::kNoStack:
      return "left out or cut: no row for the stack, its caller or its place";
    case RowProblem::kNoCounterSet:
      return "left out: no row for the set of counters, or it is another process's";
    case RowProblem::kUnreadable:
      return "cut: samples that cannot be read";
    case RowProblem::kNoTime:
      return "left out: no start, or no end";
    case RowProblem::kTime:
      return "left out: impossible start or duration";
    case RowProblem::kNegative:
      return "repaired: a negative duration was set to 0";
    case RowProblem::kUnknownKind:
      return "left out: unknown kind";
  }
  return "";
}

}  // namespace

Result<bool> RunDbRows::HasTable(std::string_view table) const {
  auto found = database_.Prepare("SELECT count(*) FROM sqlite_schema WHERE name = ?");
  if (!found.ok()) return Error{found.error()};
  found.value().Bind(1, table);
  const auto row = found.value().Step();
  if (!row.ok()) return Error{row.error()};
  return found.value().int64(0) > 0;
}

Status RunDbRows::ExpectStored(std::string_view table) {
  auto found = database_.Prepare(
      "SELECT count(*) FROM sqlite_schema "
      "WHERE name = ? AND type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'");
  if (!found.ok()) return Error{found.error()};
  found.value().Bind(1, table);
  const auto row = found.value().Step();
  if (!row.ok()) return Error{row.error()};
  if (found.value().int64(0) == 1) return Done{};
  return Error{fmt::format(
      "{}: the table '{}' is missing: the file is damaged, or its process ended while creating it",
      database_.path(), table)};
}

Status RunDbRows::ReadRows(std::string_view table, std::string_view columns, std::string_view order,
                           const std::function<bool(const SqlRow&)>& visit) const {
  auto rows = PrepareRows(table, columns, order);
  if (!rows.ok()) return Error{rows.error()};
  if (const auto span = SpanToReadAhead(table, order))
    return ReadAhead(database_, beside_, table, columns, *span).ForEachRow(visit);
  return rows.value().ForEachRow(visit);
}

// Of an append-only table, whose rowids count its rows.
std::optional<RowSpan> RunDbRows::SpanToReadAhead(std::string_view table,
                                                  std::string_view order) const {
  constexpr std::array<std::string_view, 6> kOfNumbers = {"kernel", "memcpy", "memset",
                                                          "api",    "sync",   "nvtx"};
  if (beside_.empty() || !order.empty() || share_ < 1 || RowsOf(table) < kRowsToReadAhead ||
      std::find(kOfNumbers.begin(), kOfNumbers.end(), table) == kOfNumbers.end())
    return std::nullopt;
  auto ends = database_.Prepare(
      fmt::format("SELECT (SELECT min(rowid) FROM {0}), (SELECT max(rowid) FROM {0})", table));
  if (!ends.ok() || !ends.value().Step().ok()) return std::nullopt;
  RowSpan span{ends.value().int64(0), ends.value().int64(1)};
  if (const LastRows::Part* part = LastPartOf(table))
    span.first = std::max(span.first, part->first);
  const bool is_dense =
      span.first > 0 && span.last >= span.first &&
      static_cast<std::uint64_t>(span.last - span.first) < 2 * std::uint64_t{RowsOf(table)};
  return is_dense ? std::optional(span) : std::nullopt;
}

Result<Statement> RunDbRows::PrepareRows(std::string_view table, std::string_view columns,
                                         std::string_view order) const {
  std::string from(table);
  if (const LastRows::Part* part = LastPartOf(table))
    from += fmt::format(" WHERE rowid >= {}", part->first);
  // With a limit the order of a subquery is kept.
  auto rows = database_.PrepareRows(
      columns, order.empty() ? from : fmt::format("(SELECT * FROM {} {} LIMIT -1)", from, order));
  if (rows.ok()) return rows;
  return Error{fmt::format(
      "{} - cannot read the table '{}': the file is damaged, or another program changed it",
      rows.error(), table)};
}

std::uint64_t RunDbRows::PragmaNumber(std::string_view pragma) const {
  auto asked = database_.Prepare(fmt::format("PRAGMA {}", pragma));
  if (!asked.ok() || !asked.value().Step().ok()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(asked.value().int64(0), 0));
}

// rowids of append-only tables count their rows, from where old ones were dropped; a range
// rewritten under a high rowid only spoils the estimate.
Status RunDbRows::CountRows() {
  constexpr std::array<std::string_view, 8> kLongest = {"kernel", "memcpy", "memset",     "api",
                                                        "sync",   "nvtx",   "collective", "string"};
  return CountRows(kLongest);
}

Status RunDbRows::CountRows(std::span<const std::string_view> tables) {
  // No row takes less than this of the file, so that a high rowid cannot ask for any memory.
  constexpr std::uint64_t kMinRowBytes = 8;
  const std::uint64_t file_bytes = PragmaNumber("page_count") * PragmaNumber("page_size");
  std::uint64_t total = 0;
  for (const std::string_view table : tables) {
    if (IsLeftOut(table)) continue;
    if (const Status stored = ExpectStored(table); !stored.ok()) return stored;
    auto ends = database_.Prepare(
        fmt::format("SELECT (SELECT max(rowid) FROM {0}), (SELECT min(rowid) FROM {0} "
                    "WHERE rowid > 0)",
                    table));
    if (!ends.ok()) return Error{ends.error()};
    const auto row = ends.value().Step();
    if (!row.ok()) return Error{row.error()};
    const std::int64_t last = ends.value().int64(0);
    if (last <= 0) continue;
    const std::int64_t count = last - ends.value().int64(1) + 1;
    if (count <= 0 || count >= std::int64_t{1} << 32) continue;
    total += static_cast<std::uint64_t>(count);
    rows_of_[std::string(table)] =
        std::min<std::uint64_t>(static_cast<std::uint64_t>(count), file_bytes / kMinRowBytes);
  }
  progress_.rows_total = total;
  return Done{};
}

void RunDbRows::ReadOnlyTables(const EventTables& tables) {
  constexpr EventTable kAlways[] = {EventTable::kKernel, EventTable::kMemcpy, EventTable::kMemset,
                                    EventTable::kClockPair, EventTable::kCaptureGap};
  left_out_ = {kProfilerRangeTable};
  for (const EventTableInfo& info : kEventTableInfos) left_out_.push_back(info.name);
  std::erase_if(left_out_, [&](std::string_view table) {
    return std::find(tables.begin(), tables.end(), table) != tables.end() ||
           std::any_of(std::begin(kAlways), std::end(kAlways),
                       [&](EventTable one) { return InfoOf(one).name == table; });
  });
}

bool RunDbRows::IsLeftOut(std::string_view table) const {
  return std::find(left_out_.begin(), left_out_.end(), table) != left_out_.end();
}

std::size_t RunDbRows::RowsOf(TableName table) const {
  const auto found = rows_of_.find(std::string_view(table));
  return found == rows_of_.end() ? 0 : found->second;
}

void RunDbRows::ReadOnlyFirst(std::uint64_t rows) {
  const auto total = static_cast<double>(std::max<std::uint64_t>(progress_.rows_total, 1));
  share_ = std::min(1.0, static_cast<double>(rows) / total);
}

const LastRows::Part* RunDbRows::LastPartOf(std::string_view table) const {
  if (!last_) return nullptr;
  const auto found = last_->part.find(table);
  return found == last_->part.end() ? nullptr : &found->second;
}

Status RunDbRows::ReadOnlyLast(TimeNs last_ns) {
  auto last = FindLastRows(database_, last_ns);
  if (!last.ok()) return Error{last.error()};
  last_ = std::move(last).value();
  if (!last_) return Done{};
  std::uint64_t total = 0;
  for (auto& [table, rows] : rows_of_) {
    if (const LastRows::Part* part = LastPartOf(table))
      rows = static_cast<std::size_t>(std::min<std::uint64_t>(rows, part->rows));
    total += rows;
  }
  progress_.rows_total = total;
  return Done{};
}

std::uint64_t RunDbRows::MostRows(std::string_view table) const {
  if (share_ >= 1 || table == "string" || rows_of_.find(table) == rows_of_.end()) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return static_cast<std::uint64_t>(share_ * static_cast<double>(RowsOf(table))) + 1;
}

void RunDbRows::CountImpossible(std::string_view table, const ColumnRange& range) {
  ++impossible_[fmt::format("{}.{} set aside: not from {} to {}", table, range.column,
                            FormatCount(range.least), FormatCount(range.most))];
}

bool RunDbRows::RepairTimes(std::string_view table, TimeNs start, TimeNs dur, TimeNs& end) {
  if (!IsPlausible(start) || !IsPlausible(dur)) {
    Count(table, RowProblem::kTime);
    return false;
  }
  Count(table, RowProblem::kNegative);
  end = start;
  return true;
}

bool RunDbRows::TimesOrOpen(TableName table, const SqlRow& row, int dur_column, TimeNs start,
                            TimeNs& end) {
  if (!row.is_null(dur_column)) return Times(table, start, row.int64(dur_column), end);
  if (!Times(table, start, 0, end)) return false;
  end = kOpen;
  return true;
}

void RunDbRows::Add(const RunDbRows& other) {
  read_until_ = std::min(read_until_, other.read_until_);
  for (const auto& [key, count] : other.problems_) problems_[key] += count;
  for (const auto& [what, count] : other.impossible_) impossible_[what] += count;
}

std::vector<std::string> RunDbRows::Notes() const {
  std::vector<std::string> notes;
  for (const auto& [key, count] : problems_) {
    notes.push_back(fmt::format("{}: {} row{} of the table '{}' {}", database_.path(),
                                FormatCount(count), count == 1 ? "" : "s", key.first,
                                Explain(key.second)));
  }
  for (const auto& [what, count] : impossible_)
    notes.push_back(fmt::format("{}: {} value{} of {}", database_.path(), FormatCount(count),
                                count == 1 ? "" : "s", what));
  return notes;
}

}  // namespace traceinject
