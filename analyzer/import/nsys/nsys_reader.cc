// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_reader.h"

namespace traceinject {

std::uint8_t NsysMemoryKind(const SqlRow& row, int column) {
  constexpr std::int64_t kManagedStatic = 6;
  const std::int64_t kind = row.is_null(column) ? -1 : row.int64(column);
  return kind < 0 || kind > kManagedStatic ? 0 : static_cast<std::uint8_t>(kind + 1);
}

ForeignProcess* NsysReader::ProcessOf(std::string_view table, const SqlRow& row, int column) {
  if (!row.is_null(column)) return Process(table, NsysProcessKey(row.int64(column)));
  if (processes().empty()) return Process(table, 0);
  if (processes().size() == 1) return processes().begin()->second.get();
  rows().Count(table, RowProblem::kNoProcess);
  return nullptr;
}

}  // namespace traceinject
