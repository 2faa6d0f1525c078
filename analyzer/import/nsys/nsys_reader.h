// SPDX-License-Identifier: Apache-2.0
// What the readers of the tables of an Nsight Systems export share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "analyzer/import/nsys/nsys_process.h"
#include "analyzer/import/nsys/nsys_rows.h"

namespace traceinject {

// ENUM_CUDA_MEM_KIND counts from pageable, CUpti_ActivityMemoryKind from unknown.
std::uint8_t NsysMemoryKind(const SqlRow& row, int column);

class NsysReader {
 public:
  NsysReader(const Database& database, ReadProgress& progress, const NsysTables& tables)
      : rows_(database, progress, tables) {}

  NsysRows& rows() { return rows_; }
  const NsysStrings& strings() const { return strings_; }
  std::map<std::uint64_t, std::unique_ptr<NsysProcess>>& processes() { return processes_; }

  // Before all else.
  Status ReadStrings();

  // By NsysProcessKey. Null, and counted: there are so many that the ids cannot be right.
  NsysProcess* Process(std::string_view table, std::uint64_t key);
  // Of a globalPid or globalTid; null, and counted, where that is missing. Old versions do not
  // report whose an operation is, which matters only where there are several.
  NsysProcess* ProcessOf(std::string_view table, const SqlRow& row, int column);
  // The columns start and end in front of a row; false if it has to be left out.
  bool Times(std::string_view table, const SqlRow& row, TimeNs& start, TimeNs& end);

  static std::uint64_t Id(const SqlRow& row, int column) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.int64(column)));
  }

 private:
  NsysRows rows_;
  NsysStrings strings_;
  std::map<std::uint64_t, std::unique_ptr<NsysProcess>> processes_;
};

}  // namespace traceinject
