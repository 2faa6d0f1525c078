// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_reader.h"

#include <limits>

namespace traceinject {
namespace {

// Of one machine. Each takes some kilobytes, whatever rows it has.
constexpr std::size_t kMaxProcesses = 4096;

}  // namespace

std::uint8_t NsysMemoryKind(const SqlRow& row, int column) {
  constexpr std::int64_t kManagedStatic = 6;
  const std::int64_t kind = row.is_null(column) ? -1 : row.int64(column);
  return kind < 0 || kind > kManagedStatic ? 0 : static_cast<std::uint8_t>(kind + 1);
}

Status NsysReader::ReadStrings() {
  return rows_.ForEachRowOf("StringIds", {"id", "value"}, {"id", "value"}, [&](const SqlRow& row) {
    strings_.ids.Add(row.int64(0), static_cast<std::uint32_t>(strings_.texts.size()));
    strings_.texts.emplace_back(row.text(1));
  });
}

NsysProcess* NsysReader::Process(std::string_view table, std::uint64_t key) {
  const auto known = processes_.find(key);
  if (known != processes_.end()) return known->second.get();
  if (processes_.size() == kMaxProcesses) {
    rows_.Count(table, RowProblem::kNoProcess);
    return nullptr;
  }
  auto& process = processes_[key] = std::make_unique<NsysProcess>(strings_);
  process->rank().process.pid = NsysPid(key);
  return process.get();
}

NsysProcess* NsysReader::ProcessOf(std::string_view table, const SqlRow& row, int column) {
  if (!row.is_null(column)) return Process(table, NsysProcessKey(row.int64(column)));
  if (processes_.empty()) return Process(table, 0);
  if (processes_.size() == 1) return processes_.begin()->second.get();
  rows_.Count(table, RowProblem::kNoProcess);
  return nullptr;
}

bool NsysReader::Times(std::string_view table, const SqlRow& row, TimeNs& start, TimeNs& end) {
  if (row.type(0) != SQLITE_INTEGER || row.type(1) != SQLITE_INTEGER) {
    rows_.Count(table, RowProblem::kNoTime);
    return false;
  }
  start = row.int64(0);
  TimeNs dur = 0;
  if (__builtin_sub_overflow(row.int64(1), start, &dur)) dur = std::numeric_limits<TimeNs>::max();
  return rows_.Times(table, start, dur, end);
}

}  // namespace traceinject
