// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

#include "analyzer/commands/run/run_commands.h"
#include "analyzer/commands/run/sql_columns.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/sql_rows.h"
#include "analyzer/convert/open_as_recordings.h"
#include "analyzer/export/columns/column_stream.h"
#include "analyzer/export/output_file.h"
#include "analyzer/import/open/run_paths.h"

namespace traceinject {
namespace {

constexpr char kSqlProgram[] = "analyze sql";
constexpr char kSqlExamples[] =
    "Examples:\n"
    "  analyze sql run.db \"SELECT name, count(*) AS calls, sum(dur_ns) AS ns FROM kernels GROUP "
    "BY name ORDER BY ns DESC LIMIT 10\"\n"
    "  analyze sql run.db \"SELECT sql FROM sqlite_schema\" --format csv    the tables, with a "
    "comment on every column\n"
    "  analyze sql run.db - < query.sql                               the query from stdin\n"
    "  analyze sql run.db \"SELECT * FROM memcpys\" --format csv -o copies.csv\n"
    "With several files the query runs on each, and a column 'rank' comes first. A trace of "
    "another profiler is\n"
    "imported first, as by analyze import.\n";

struct SqlOptions {
  std::vector<std::string> words;  // paths, then the query
  std::string format = "table", output = "-";
};

// How rows of a file are told apart: its rank, else its name.
SqlCell RankCell(const Database& database) {
  const auto rank = Query(database, "SELECT rank FROM process LIMIT 1");
  if (rank.ok() && rank.value().rows.size() == 1 &&
      rank.value().rows[0][0].kind == SqlCell::Kind::kNumber) {
    return rank.value().rows[0][0];
  }
  return {SqlCell::Kind::kText, std::filesystem::path(database.path()).filename().string()};
}

// What the query gives in one recording; of several with its rank in front of each row.
Status AddRows(const Database& database, std::string_view sql, bool alone, SqlRows& all) {
  auto rows = Query(database, sql);
  if (!rows.ok()) return Error{rows.error()};
  if (alone) {
    all = std::move(rows).value();
    return Done{};
  }
  if (all.columns.empty()) {
    all.columns = rows.value().columns;
    all.columns.insert(all.columns.begin(), "rank");
  }
  if (rows.value().columns.size() + 1 != all.columns.size())
    return Error{fmt::format("{}: {}", database.path(), kOtherColumns)};
  const SqlCell rank = RankCell(database);
  for (auto& row : rows.value().rows) {
    row.insert(row.begin(), rank);
    all.rows.push_back(std::move(row));
  }
  return Done{};
}

// Calls add(database, alone) for each recording in the files.
template <typename Add>
Status ForEachRecording(const std::vector<std::string>& files, Add add) {
  for (const std::string& file : files) {
    const auto databases = OpenAsRecordings(file);
    if (!databases.ok()) return Error{databases.error()};
    const bool alone = files.size() == 1 && databases.value().size() == 1;
    for (const Database& database : databases.value()) {
      const Status added = add(database, alone);
      if (!added.ok()) return added;
    }
  }
  return Done{};
}

std::string FormatRows(const SqlRows& rows, const std::string& format) {
  if (format == "csv") return FormatRowsAsCsv(rows);
  if (format == "json") return FormatRowsAsJson(rows);
  return FormatRowsAsTable(rows);
}

int WriteAsColumns(const std::vector<std::string>& files, const std::string& sql,
                   const std::string& output) {
  SqlColumns columns;
  Status done = ForEachRecording(files, [&](const Database& database, bool alone) {
    return columns.Add(database, sql, alone ? std::nullopt : std::optional(RankCell(database)));
  });
  if (done.ok()) {
    auto file = OutputFile::Create(output);
    if (!file.ok()) {
      done = Error{file.error()};
    } else {
      WriteColumns(columns.Take("sql"), file.value());
      done = file.value().Close();
    }
  }
  if (done.ok()) return kReported;
  fmt::print(stderr, "{}\n", done.error());
  return kUnreadable;
}

}  // namespace

int RunSql(const std::vector<std::string>& arguments) {
  SqlOptions options;
  CLI::App app("Runs one SQL query on a recording, read-only.", kSqlProgram);
  app.footer(kSqlExamples);
  app.add_option("run query", options.words,
                 "the recordings, then the query (- to read it from stdin)")
      ->required();
  app.add_option("--format", options.format,
                 "table, csv, json, or columns, the binary form that docs/formats.md describes")
      ->check(CLI::IsMember({"table", "csv", "json", "columns"}))
      ->capture_default_str();
  AddOutput(app, options.output);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (options.words.size() < 2) {
    fmt::print(stderr,
               "{}: expected a recording and a query, as in: analyze sql run.db \"SELECT count(*) "
               "FROM kernel\"\n",
               kSqlProgram);
    return kBadUsage;
  }
  std::string sql = options.words.back();
  if (sql == "-") sql.assign(std::istreambuf_iterator<char>(std::cin), {});
  options.words.pop_back();

  const auto paths = ResolveRunPaths(options.words);
  if (!paths.ok()) {
    fmt::print(stderr, "{}\n\n{}", paths.error(), MissingRunChecklist(options.words));
    return kUnreadable;
  }
  for (const std::string& note : paths.value().notes) fmt::print(stderr, "note: {}\n", note);
  if (options.format == "columns") return WriteAsColumns(paths.value().files, sql, options.output);
  SqlRows rows;
  const Status read = ForEachRecording(
      paths.value().files,
      [&](const Database& database, bool alone) { return AddRows(database, sql, alone, rows); });
  if (!read.ok()) {
    fmt::print(stderr, "{}\n", read.error());
    return kUnreadable;
  }
  return WriteOrExplain(kSqlProgram, options.output, FormatRows(rows, options.format));
}

}  // namespace traceinject
