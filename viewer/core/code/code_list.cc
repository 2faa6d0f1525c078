// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/code/code_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "analyzer/metrics/places/code_sites.h"
#include "analyzer/report/tables/full_tables.h"
#include "analyzer/view/rows/contains_text.h"

namespace traceinject {
namespace {

constexpr std::string_view kFigures[] = {"idle_ns",      "cause",   "wait_ns",       "kernel_ns",
                                         "host_self_ns", "host_ns", "host_total_ns", "gpu"};
constexpr std::string_view kThreadFigures[] = {"host_ns", "samples", "gpu"};
constexpr TableColumn kNames[] = {
    {"place", "line", Unit::kText, Shown::kAlways, ""},
    {"place", "function", Unit::kText, Shown::kAlways, ""},
    {"place", "thread", Unit::kText, Shown::kAlways, ""},
    {"place", "module", Unit::kText, Shown::kAlways, ""},
    {"place", "module", Unit::kText, Shown::kAlways, ""},
};

Table FullTableOf(const proto::Report& report, CodeGrouping grouping) {
  switch (grouping) {
    case CodeGrouping::kLine:
      return CodeLineTable(report);
    case CodeGrouping::kFunction:
      return CodeFunctionTable(report);
    case CodeGrouping::kModules:
    case CodeGrouping::kEachModule:
      return CodeModuleTable(report);
    case CodeGrouping::kThread:
      break;
  }
  return CodeThreadTable(report);
}

// Whether anything is known of the column.
bool HasCells(const Table& table, std::string_view name) {
  const auto column = FindColumn(table.columns, name);
  return column && std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
           return !std::holds_alternative<std::monostate>(row[*column]);
         });
}

std::string NameOf(const proto::CodeRow& row, CodeGrouping grouping) {
  if (grouping == CodeGrouping::kThread) {
    return row.thread_name().empty() ? fmt::format("{}", row.thread())
                                     : fmt::format("{} ({})", row.thread(), row.thread_name());
  }
  if (IsOfModules(grouping)) return row.module().empty() ? "(none)" : row.module();
  return PlaceText(row.file(), row.line(), row.function());
}

}  // namespace

CodeList::CodeList(const proto::Report& report, CodeGrouping grouping) {
  const Table full = FullTableOf(report, grouping);
  std::vector<std::size_t> columns;
  const auto take = [&](std::string_view name) {
    const auto column = FindColumn(full.columns, name);
    if (column && (full.columns[*column].shown != Shown::kIfRowsDiffer || IsShown(full, *column)))
      columns.push_back(*column);
  };
  const std::span<const std::string_view> figures =
      grouping == CodeGrouping::kThread ? std::span<const std::string_view>(kThreadFigures)
                                        : std::span<const std::string_view>(kFigures);
  for (const std::string_view name : figures) take(name);
  if (grouping == CodeGrouping::kLine && HasCells(full, "text")) take("text");
  all_.columns.push_back(kNames[static_cast<std::size_t>(grouping)]);
  for (const std::size_t column : columns) all_.columns.push_back(full.columns[column]);
  for (const proto::DeviceReport& device : report.devices()) {
    for (const proto::CodeRow& row : device.code()) {
      const std::vector<Cell>& from = full.rows[rows_.size()];
      std::vector<Cell>& cells = all_.rows.emplace_back();
      cells.emplace_back(NameOf(row, grouping));
      for (const std::size_t column : columns) cells.push_back(from[column]);
      cells.emplace_back(static_cast<std::int64_t>(rows_.size()));
      rows_.push_back(&row);
    }
  }
  Arrange({});
}

void CodeList::Arrange(const CodeOrder& order) {
  shown_ = all_;
  FilterTable(shown_, [&](const std::string& text) { return ContainsText(text, order.filter); });
  if (const auto column = FindColumn(shown_.columns, order.column))
    SortTable(shown_, *column, order.reversed);
}

std::string CodeList::Text(std::size_t row, std::size_t column) const {
  return CellText(shown_.rows[row][column], shown_.columns[column].unit);
}

const proto::CodeRow& CodeList::RowOf(std::size_t row) const {
  return *rows_[static_cast<std::size_t>(std::get<std::int64_t>(shown_.rows[row].back()))];
}

CodeKey CodeList::Key(std::size_t row) const {
  const proto::CodeRow& of = RowOf(row);
  return {of.file(), of.function(), of.line()};
}

bool CodeList::IsOwn(std::size_t row) const { return RowOf(row).own(); }

}  // namespace traceinject
