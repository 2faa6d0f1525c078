// SPDX-License-Identifier: Apache-2.0
// A table of the program's code as a panel shows it: sorted, filtered, with the cells as `analyze
// code` prints them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/metrics/places/code_grouping.h"
#include "analyzer/report/tables/table.h"
#include "analyzer/view/rows/marked_places.h"
#include "schemas/report.pb.h"

namespace traceinject {

struct CodeOrder {
  std::string filter;              // anywhere in a text of a row
  std::string column = "idle_ns";  // by its name
  bool reversed = false;           // amounts from the smallest, names from the last
  bool operator==(const CodeOrder&) const = default;
};

class CodeList {
 public:
  // The report must outlive it, and is grouped so.
  CodeList(const proto::Report& report, CodeGrouping grouping);

  void Arrange(const CodeOrder& order);

  // The first one names the row; the others are figures and short texts, the last one of lines is
  // their text.
  const std::vector<TableColumn>& columns() const { return shown_.columns; }
  std::size_t size() const { return shown_.rows.size(); }
  std::size_t all() const { return all_.rows.size(); }
  std::string Text(std::size_t row, std::size_t column) const;
  // Of lines and functions.
  CodeKey Key(std::size_t row) const;
  bool IsOwn(std::size_t row) const;

 private:
  const proto::CodeRow& RowOf(std::size_t row) const;

  std::vector<const proto::CodeRow*> rows_;  // of the report
  Table all_, shown_;                        // the cell behind the columns is an index into rows_
};

}  // namespace traceinject
