// SPDX-License-Identifier: Apache-2.0
// The commands that print one full table: analyze kernels, gaps, ...
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/commands/shared/run_options.h"
#include "analyzer/report/tables/table.h"

namespace traceinject {

// What a command has to show, before its rows are chosen.
struct FullTable {
  Report report;          // for its notes, its health and what is withheld
  std::string summary;    // a sentence above the table; empty: none
  Table table;            // in its own order
  std::int64_t rows = 0;  // that there are: more than the table has where fewer were asked for
  bool judged = true;     // of the judged steps, unless --all asks for more
};

struct TableCommand {
  const char* program;      // "analyze kernels"
  const char* about;        // for --help: what a row is
  const char* definitions;  // for --help, below the columns: what the figures mean
  const char* examples;
  std::vector<TableColumn> columns;
  // `enough`: rows, of each GPU, that are shown of the table's own order; empty: all are needed.
  FullTable (*build)(const Run& run, const ReportOptions& options,
                     std::optional<std::size_t> enough);
  // Options of this command only; null: none.
  void (*add_options)(CLI::App& app, ReportOptions& options) = nullptr;
  // Of a command with several tables: the option that asks for this one; null: none is needed.
  const char* flag = nullptr;
  const char* flag_help = nullptr;
};

// Returns the exit code. `tables`: of one command; the first has no flag.
int RunTable(std::span<const TableCommand> tables, const std::vector<std::string>& arguments);

}  // namespace traceinject
