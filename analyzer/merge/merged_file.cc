// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/merged_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/source/run_db_rows.h"
#include "analyzer/merge/insert_rows.h"

namespace traceinject {
namespace {

// No recording comes near it, and sums of ids do not overflow.
constexpr std::int64_t kHighestId = std::int64_t{1} << 40;

// What stands for a column that the recording's version did not have, if not NULL.
struct StandIn {
  std::string_view table, column;
  std::string_view instead_of;  // a column that the version had; empty: none
  std::string_view value;
};
constexpr std::array<StandIn, 4> kStandIns = {{
    {"collective", "id", "", "rowid"},
    {"attention", "gradient", "fused", "fused IS NOT NULL"},
    {"capture_gap", "proc", "", "(SELECT proc FROM process)"},
    {"clock_pair", "proc", "", "(SELECT proc FROM process)"},
}};

bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// In the order of the table's columns, for SELECT.
std::string ColumnsFor(const MergeTable& table, const std::vector<std::string>& recorded) {
  std::string columns;
  for (const MergeColumn& column : table.columns) {
    if (!columns.empty()) columns += ", ";
    if (Contains(recorded, column.name)) {
      columns += column.name;
      continue;
    }
    const auto found =
        std::find_if(kStandIns.begin(), kStandIns.end(), [&](const StandIn& stand_in) {
          return stand_in.table == table.name && stand_in.column == column.name &&
                 (stand_in.instead_of.empty() || Contains(recorded, stand_in.instead_of));
        });
    columns += found == kStandIns.end() ? "NULL" : found->value;
  }
  return columns;
}

// What a query gives that gives one number.
Result<std::int64_t> Number(const Database& database, const std::string& sql) {
  auto found = database.Prepare(sql);
  if (!found.ok()) return Error{found.error()};
  const auto row = found.value().Step();
  if (!row.ok()) return Error{row.error()};
  return found.value().int64(0);
}

Result<std::int64_t> HighestId(const Database& database, const std::string& table) {
  return Number(database, fmt::format("SELECT ifnull(max(rowid), 0) FROM {}", table));
}

bool HasIds(const MergeTable& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const MergeColumn& column) { return column.kind == ColumnKind::kOwnId; });
}

}  // namespace

// One recording on its way into the file.
class MergedFile::Copy {
 public:
  Copy(MergedFile& to, const MergeSource& source, const Database& from, ReadProgress& progress)
      : to_(to), source_(source), from_(from), rows_(from, progress) {
    rows_.KeepImpossible();  // what cannot be right stays, for readers to find
  }

  Status Run() {
    if (const Status counted = rows_.CountRows(); !counted.ok()) return counted;
    if (const Status ids = FindIds(); !ids.ok()) return ids;
    for (const MergeTable& table : to_.tables_) {
      const Status copied = CopyTable(table);
      if (!copied.ok()) return copied;
    }
    return DescribeProcess();
  }

 private:
  // The ids of a table in the recording are 1 to `highest`; `offset` is added to them.
  struct Ids {
    std::int64_t highest = 0, offset = 0;
  };

  Status FindIds() {
    for (const MergeTable& table : to_.tables_) {
      ids_.emplace_back();
      const auto recorded = ColumnsOf(from_, table.name);
      if (!recorded.ok()) return Error{recorded.error()};
      recorded_.push_back(recorded.value());
      if (!HasIds(table) || recorded.value().empty()) continue;
      if (const Status stored = rows_.ExpectStored(table.name); !stored.ok()) return stored;
      const auto there = HighestId(to_.file_.database(), table.name);
      if (!there.ok()) return Error{there.error()};
      const auto highest = HighestId(from_, table.name);
      if (!highest.ok()) return Error{highest.error()};
      if (highest.value() > kHighestId)
        return Error{fmt::format("{}: invalid ids in its table '{}': the file is damaged",
                                 source_.path, table.name)};
      ids_.back() = {highest.value(), there.value()};
    }
    return Done{};
  }

  Status CopyTable(const MergeTable& table) {
    const auto index = static_cast<std::size_t>(&table - to_.tables_.data());
    if (recorded_[index].empty()) return Done{};  // of a later version
    if (const Status stored = rows_.ExpectStored(table.name); !stored.ok()) return stored;
    const auto count = Number(from_, "SELECT count(*) FROM " + table.name);
    if (!count.ok()) return Error{count.error()};
    auto prepared =
        InsertRows::Into(to_.file_.database(), table.name, table.columns.size(), count.value());
    if (!prepared.ok()) return Error{prepared.error()};
    InsertRows& insert = prepared.value();
    std::optional<std::string> failed;
    const Status read =
        rows_.ForEachRow(table.name, ColumnsFor(table, recorded_[index]), [&](const SqlRow& row) {
          if (failed) return;
          for (std::size_t i = 0; i < table.columns.size(); ++i)
            BindColumn(insert, table, index, i, row);
          const Status added = insert.Add();
          if (!added.ok()) failed = added.error();
        });
    if (failed) return Error{*failed};
    to_.rows_ += insert.inserted();
    if (insert.left_out() > 0) to_.left_out_[{source_.path, table.name}] = insert.left_out();
    return read;
  }

  void BindColumn(InsertRows& rows, const MergeTable& table, std::size_t index, std::size_t at,
                  const SqlRow& row) const {
    const MergeColumn& column = table.columns[at];
    Statement& insert = rows.statement();
    const int from = static_cast<int>(at), to = rows.first() + from;
    const bool number = row.type(from) == SQLITE_INTEGER;
    switch (column.kind) {
      case ColumnKind::kOwnId:
        return insert.Bind(to, NewId(ids_[index], row.int64(from)));
      case ColumnKind::kReference:
        if (!row.is_null(from)) return insert.Bind(to, NewId(ids_[column.other], row.int64(from)));
        break;
      case ColumnKind::kTime:
        if (number) return insert.Bind(to, source_.clock.Of(row.int64(from)));
        break;
      case ColumnKind::kDuration:
        if (number) {
          const std::int64_t start = row.int64(static_cast<int>(column.other));
          return insert.Bind(to, Length(start, row.int64(from)));
        }
        break;
      case ColumnKind::kCopied:
        break;
    }
    insert.Bind(to, row, from);
  }

  static std::int64_t NewId(const Ids& ids, std::int64_t id) {
    return id >= 1 && id <= ids.highest ? id + ids.offset : 0;
  }

  // Likewise as it is.
  TimeNs Length(TimeNs start, TimeNs length) const {
    if (length < 0 || !IsPlausible(start) || !IsPlausible(length)) return length;
    return source_.clock.Of(start + length) - source_.clock.Of(start);
  }

  // What the recording as a whole says of its process.
  Status DescribeProcess() {
    std::string tool_version;
    bool closed = false;
    const Status read = rows_.ForEachRow("meta", "key, value", [&](const SqlRow& row) {
      if (row.text(0) == "tool_version") tool_version = row.text(1);
      if (row.text(0) == "closed") closed = row.int64(1) != 0;
    });
    if (!read.ok()) return read;
    auto update = to_.file_.database().Prepare(
        "UPDATE process SET tool_version = ifnull(tool_version, ?), closed = ifnull(closed, ?), "
        "clock_shift = ifnull(clock_shift, 0) + ?, clock_drift = ifnull(clock_drift, 0) + ? "
        "WHERE proc = (SELECT max(proc) FROM process)");
    if (!update.ok()) return Error{update.error()};
    update.value().Bind(1, tool_version);
    update.value().Bind(2, std::int64_t{closed});
    update.value().Bind(3, source_.clock_shift);
    update.value().BindReal(4, source_.clock_drift);
    const auto updated = update.value().Step();
    return updated.ok() ? Status(Done{}) : Error{updated.error()};
  }

  MergedFile& to_;
  const MergeSource& source_;
  const Database& from_;
  RunDbRows rows_;
  std::vector<Ids> ids_;                            // by table
  std::vector<std::vector<std::string>> recorded_;  // by table: the columns that the recording has
};

Result<MergedFile> MergedFile::Create(const std::string& path, const MergePlan& plan,
                                      const std::string& tool_version) {
  auto file = NewRunDb::Create(path);
  if (!file.ok()) return Error{file.error()};
  auto tables = DescribeTables(file.value().database());
  if (!tables.ok()) return Error{tables.error()};
  const Status written = file.value().WriteMeta(plan.base_ns, tool_version, plan.run_id);
  if (!written.ok()) return Error{written.error()};
  return MergedFile(path, std::move(file).value(), std::move(tables).value());
}

Status MergedFile::Add(const MergeSource& source, ReadProgress& progress) {
  const auto recording = OpenRecording(source.path);
  if (!recording.ok()) return Error{recording.error()};
  return Copy(*this, source, recording.value(), progress).Run();
}

Status MergedFile::Finish() {
  const Status committed = file_.Commit();
  return committed.ok() ? file_.Keep(path_) : committed;
}

std::vector<std::string> MergedFile::Notes() const {
  std::vector<std::string> notes;
  for (const auto& [place, count] : left_out_) {
    notes.push_back(
        fmt::format("{}: {} row{} of the table '{}' left out: they violate its constraints",
                    place.first, FormatCount(count), count == 1 ? "" : "s", place.second));
  }
  return notes;
}

}  // namespace traceinject
