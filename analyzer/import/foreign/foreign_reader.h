// SPDX-License-Identifier: Apache-2.0
// What the readers of the tables of another profiler's file share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "analyzer/import/foreign/foreign_process.h"
#include "analyzer/import/foreign/foreign_rows.h"

namespace traceinject {

class ForeignReader {
 public:
  ForeignReader(const Database& database, ReadProgress& progress, const ForeignTables& tables)
      : rows_(database, progress, tables) {}

  ForeignRows& rows() { return rows_; }
  const ForeignStrings& strings() const { return strings_; }
  std::map<std::uint64_t, std::unique_ptr<ForeignProcess>>& processes() { return processes_; }

  // Texts by id, before all else.
  Status ReadStringTable(std::string_view table, std::string_view text_column,
                         ForeignStrings& into);

  // Those of `tables` that are there, as RunDbRows::CountRows.
  Status CountRowsOf(std::span<const std::string_view> tables);

  // Of a process, by a number that the reader tells processes apart by. Null, and counted: there
  // are so many that the numbers cannot be right.
  ForeignProcess* Process(std::string_view table, std::uint64_t key, std::int64_t pid);
  // The columns start and end in front of a row; false if it has to be left out. `base`: what is
  // time 0.
  bool Times(std::string_view table, const SqlRow& row, TimeNs& start, TimeNs& end,
             std::int64_t base = 0);

  static std::uint64_t Id(const SqlRow& row, int column) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.int64(column)));
  }

  // Every process with GPU work becomes a rank of the file, from its first event to its last, which
  // `describe` adds facts to by the number of the process; the others, and rows that were left out,
  // are told in its notes.
  void MakeRanks(std::string_view imported_from, Repairs repairs,
                 const std::function<void(std::uint64_t, Rank&)>& describe, RecordedFile& file);

 protected:
  ForeignStrings strings_;

 private:
  ForeignRows rows_;
  std::map<std::uint64_t, std::unique_ptr<ForeignProcess>> processes_;
};

}  // namespace traceinject
