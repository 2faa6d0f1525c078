// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/export_rows.h"

#include <fmt/format.h>

#include <filesystem>

#include "analyzer/commands/shared/sql_rows.h"
#include "analyzer/import/open/open_recording.h"

namespace traceinject {
namespace {

// As SQL quotes names (") and texts (').
std::string Quoted(const std::string& text, char quote) {
  std::string quoted(1, quote);
  for (const char letter : text) {
    if (letter == quote) quoted += quote;
    quoted += letter;
  }
  return quoted + quote;
}

std::string SelectAll(const std::string& table, const std::string& recording, bool with_rank) {
  const std::string name = std::filesystem::path(recording).filename().string();
  const std::string rank =
      fmt::format("ifnull((SELECT rank FROM process LIMIT 1), {}) AS rank, ", Quoted(name, '\''));
  return fmt::format("SELECT {}* FROM {}", with_rank ? rank : "", Quoted(table, '"'));
}

}  // namespace

Result<std::uint64_t> WriteTableRows(const std::vector<std::string>& recordings,
                                     const std::string& table, OutputFile& file) {
  std::uint64_t rows = 0;
  std::string head;
  for (const std::string& recording : recordings) {
    const auto database = OpenRecording(recording);
    if (!database.ok()) return Error{database.error()};
    bool fits = true;
    const Status read = QueryEach(
        database.value(), SelectAll(table, recording, recordings.size() > 1),
        [&](const std::vector<std::string>& columns) {
          const std::string own = CsvHead(columns);
          if (head.empty()) file.Write(head = own);
          fits = own == head;
        },
        [&](std::vector<SqlCell>& cells) {
          if (!fits) return;
          file.Write(CsvRow(cells));
          ++rows;
        });
    if (!read.ok()) return Error{read.error()};
    if (!fits)
      return Error{fmt::format("{}: the table's columns differ from those in {}", recording,
                               recordings.front())};
  }
  return rows;
}

}  // namespace traceinject
