// SPDX-License-Identifier: Apache-2.0
// Full tables. The columns of a table are declared once (ColumnOf), and its text, CSV, JSON, what
// it can be sorted by and its help are all made from that: a new column is one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "analyzer/report/layout/text_layout.h"

namespace traceinject {

// monostate: not known.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;

// What a column holds: says how text shows it and which end comes first when it is sorted.
enum class Unit : std::uint8_t {
  kText,
  kName,         // likewise, shortened to the room there is, and last in the text; one in a table
  kKernelName,   // likewise, shortened as kernel names are
  kShortText,    // shortened before a column beside it is left out
  kKernelClass,  // by its name, of which text shows the title
  kOrdinal,      // a number that counts nothing: of a rank, a step, a thread
  kMoment,       // ns after the first GPU operation; text shows seconds as --from takes them
  kTime,         // ns
  kCount,
  kBytes,
  kShare,   // 0 to 1
  kGbPerS,  // 10^9 bytes per second
  kNumber,  // any other, whose unit the names of the column tell
};

// Whether the text shows a column that nobody asked for by --columns.
enum class Shown : std::uint8_t {
  kAlways,
  kIfItFits,
  kIfRowsDiffer,  // in this column, and it fits
  kOnRequest,
};

struct TableColumn {
  std::string_view name;   // in CSV and JSON, for --sort and --columns; ends in its unit
  std::string_view title;  // in the text
  Unit unit = Unit::kText;
  Shown shown = Shown::kIfItFits;
  std::string_view help;

  bool is_text() const {
    return unit == Unit::kText || unit == Unit::kShortText || unit == Unit::kKernelClass ||
           is_name();
  }
  // May be shortened to fit, and stands last.
  bool is_name() const { return unit == Unit::kName || unit == Unit::kKernelName; }
  bool operator==(const TableColumn&) const = default;
};

template <typename Row>
struct ColumnOf {
  TableColumn column;
  Cell (*value)(const Row&);
};

// Rows have as many cells as there are columns.
struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
};

template <typename Row>
std::vector<TableColumn> ColumnsOf(std::span<const ColumnOf<Row>> declared) {
  std::vector<TableColumn> columns;
  for (const ColumnOf<Row>& one : declared) columns.push_back(one.column);
  return columns;
}

// `rows`: any list of Row.
template <typename Row, typename Rows>
Table TableOf(std::span<const ColumnOf<Row>> declared, const Rows& rows) {
  Table table{ColumnsOf(declared), {}};
  for (const Row& row : rows) {
    std::vector<Cell>& cells = table.rows.emplace_back();
    for (const ColumnOf<Row>& one : declared) cells.push_back(one.value(row));
  }
  return table;
}

// For fields that may be absent.
template <typename T>
Cell CellIf(bool known, T value) {
  return known ? Cell(value) : Cell();
}
inline Cell TextIfAny(std::string text) { return text.empty() ? Cell() : Cell(std::move(text)); }

// By name, or by title; empty: there is none.
std::optional<std::size_t> FindColumn(std::span<const TableColumn> columns, std::string_view name);

// Amounts: the largest first; names, ordinals and moments: the smallest. `reversed`: the other way
// round. What is not known comes last either way. Equal rows keep their order. O(n log n).
void SortTable(Table& table, std::size_t column, bool reversed);
// Keeps the rows of which `matches` takes one of the texts.
void FilterTable(Table& table, const std::function<bool(const std::string&)>& matches);
// These columns, in this order.
void ChooseColumns(Table& table, std::span<const std::size_t> columns);

struct TableTextOptions {
  std::size_t width = kTextWidth;
  bool all_columns = false;  // those that do not fit, too: they were asked for
};

// Columns that do not fit are left out, the last ones first, and returned. `page`: with room for
// `width`. What is not known is a "-".
std::vector<std::string> WriteTable(const Table& table, const TableTextOptions& options,
                                    TextPage& page);

// As the text shows it; "-": not known.
std::string CellText(const Cell& cell, Unit unit);
// Whether the column tells anything: unless it was asked for, it is only in the way else.
bool IsShown(const Table& table, std::size_t column, const TableTextOptions& options = {});

// "name  what it is", for --help.
std::string ColumnHelp(std::span<const TableColumn> columns);

}  // namespace traceinject
