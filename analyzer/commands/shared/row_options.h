// SPDX-License-Identifier: Apache-2.0
// What commands that print a table share: which rows and columns of it, in which order and format.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/commands/shared/name_filter.h"
#include "analyzer/report/tables/table.h"

namespace traceinject {

struct RowOptions {
  std::string format = "text";
  std::optional<std::size_t> sort;
  bool reverse = false;
  std::optional<NameFilter> filter;
  std::optional<std::int64_t> limit;
  std::vector<std::size_t> columns;  // empty: not chosen

  // Empty: all.
  std::optional<std::size_t> row_limit() const;
  // Rows are shown in the table's own order, from its beginning.
  bool own_order() const { return !sort && !reverse && !filter; }
};

// --sort, --reverse, --filter, --limit, --columns and --format. `columns` must outlive the parsing.
void AddRowOptions(CLI::App& app, std::span<const TableColumn> columns, RowOptions& options);

// Filters, sorts and cuts the table, of which there are `rows` rows, and returns how many were left
// out by --limit.
std::int64_t ChooseRows(Table& table, std::int64_t rows, const RowOptions& options);

// The chosen rows as csv or json. Rows that were left out are noted on stderr.
std::string RenderRows(const Table& table, std::int64_t left_out, const RowOptions& options);

// The chosen rows as text, with what was left out.
void WriteRows(const Table& table, std::int64_t left_out, const RowOptions& options,
               std::size_t width, TextPage& page);

}  // namespace traceinject
