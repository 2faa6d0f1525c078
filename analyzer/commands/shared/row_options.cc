// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/row_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/sql_rows.h"
#include "analyzer/common/text.h"
#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr std::size_t kTextRows = 20;

SqlCell RawCell(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return {SqlCell::Kind::kText, *text};
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    return {SqlCell::Kind::kNumber, fmt::format("{}", *whole)};
  const auto* number = std::get_if<double>(&cell);
  if (number == nullptr || !std::isfinite(*number)) return {};
  return {SqlCell::Kind::kNumber, fmt::format("{}", *number)};
}

SqlRows RawRows(const Table& table) {
  SqlRows raw;
  for (const TableColumn& column : table.columns) raw.columns.emplace_back(column.name);
  for (const auto& row : table.rows) {
    auto& cells = raw.rows.emplace_back();
    for (const Cell& cell : row) cells.push_back(RawCell(cell));
  }
  return raw;
}

// Throws what CLI11 reports as an error of that option.
std::size_t ColumnOrThrow(std::span<const TableColumn> columns, const std::string& name,
                          const char* option) {
  if (const auto column = FindColumn(columns, name)) return *column;
  std::vector<std::string_view> names;
  std::string list;
  for (const TableColumn& column : columns) {
    names.push_back(column.name);
    list += (list.empty() ? "" : ", ") + std::string(column.name);
  }
  const auto nearest = NearestWord(name, names);
  throw CLI::ValidationError(
      option,
      fmt::format("unknown column '{}'{}; columns are {}", name,
                  nearest ? fmt::format(", did you mean '{}'?", *nearest) : std::string(), list));
}

// "name,count"; "all".
std::vector<std::size_t> ParseColumns(std::span<const TableColumn> columns,
                                      const std::string& list) {
  std::vector<std::size_t> chosen;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string name = list.substr(at, end - at);
    at = end + 1;
    if (name != "all") {
      chosen.push_back(ColumnOrThrow(columns, name, "--columns"));
      continue;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

std::optional<std::size_t> RowOptions::row_limit() const {
  if (!limit) return format == "text" ? std::optional(kTextRows) : std::nullopt;
  return *limit == 0 ? std::nullopt : std::optional(static_cast<std::size_t>(*limit));
}

void AddRowOptions(CLI::App& app, std::span<const TableColumn> columns, RowOptions& options) {
  std::vector<std::string> names;
  for (const TableColumn& column : columns) names.emplace_back(column.name);
  OfferWords(
      app.add_option_function<std::string>(
             "--sort",
             [columns, &options](const std::string& name) {
               options.sort = ColumnOrThrow(columns, name, "--sort");
             },
             "sort by this column: amounts largest first; names, numbers and times smallest first")
          ->type_name("COLUMN"),
      std::move(names));
  app.add_flag("--reverse", options.reverse, "reverse the order");
  app.add_option_function<std::string>(
         "--filter",
         [&options](const std::string& text) {
           auto parsed = NameFilter::Parse(text);
           if (!parsed.ok()) throw CLI::ValidationError("--filter", parsed.error());
           options.filter = std::move(parsed).value();
         },
         "only rows with a text that matches this regular expression")
      ->type_name("REGEX");
  app.add_option("--limit", options.limit,
                 "rows to print; 0: all. Default: 20 in text, all in csv and json")
      ->check(WholeNumberFrom(0));
  app.add_option_function<std::string>(
         "--columns",
         [columns, &options](const std::string& list) {
           options.columns = ParseColumns(columns, list);
         },
         "columns to show, in this order, separated by commas, or all. csv and json always have "
         "all")
      ->type_name("COLUMN,...");
  app.add_option("--format", options.format, "text, csv or json (a list of objects)")
      ->check(CLI::IsMember({"text", "csv", "json"}))
      ->capture_default_str();
}

std::int64_t ChooseRows(Table& table, std::int64_t rows, const RowOptions& options) {
  if (options.filter) {
    FilterTable(table, [&](const std::string& text) { return options.filter->Matches(text); });
    rows = static_cast<std::int64_t>(table.rows.size());
  }
  if (options.sort)
    SortTable(table, *options.sort, options.reverse);
  else if (options.reverse)
    std::reverse(table.rows.begin(), table.rows.end());
  if (const auto limit = options.row_limit(); limit && table.rows.size() > *limit)
    table.rows.resize(*limit);
  if (!options.columns.empty()) ChooseColumns(table, options.columns);
  return rows - static_cast<std::int64_t>(table.rows.size());
}

std::string RenderRows(const Table& table, std::int64_t left_out, const RowOptions& options) {
  if (left_out > 0) fmt::print(stderr, "note: {} more rows; --limit 0 prints all\n", left_out);
  const SqlRows raw = RawRows(table);
  return options.format == "csv" ? FormatRowsAsCsv(raw) : FormatRowsAsJson(raw);
}

void WriteRows(const Table& table, std::int64_t left_out, const RowOptions& options,
               std::size_t width, TextPage& page) {
  const std::vector<std::string> hidden =
      WriteTable(table, {.width = width, .all_columns = !options.columns.empty()}, page);
  if (left_out > 0)
    page.Sentence(fmt::format("({} more; --limit 0 shows all)", FormatCount(left_out)));
  if (!hidden.empty())
    page.Sentence(
        fmt::format("more columns available with --columns: {}", fmt::join(hidden, ", ")));
}

}  // namespace traceinject
