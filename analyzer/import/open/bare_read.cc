// SPDX-License-Identifier: Apache-2.0
// Reads tables of a recording as analyze does and does nothing with the rows: what SQLite alone
// takes of a report (tests/bench/report.py).
//
//   bare_read run.db TABLE COLUMNS [TABLE COLUMNS]...
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "analyzer/common/sqlite.h"
#include "analyzer/import/open/open_recording.h"

namespace traceinject {
namespace {

int Fail(const std::string& reason) {
  std::fprintf(stderr, "bare_read: %s\n", reason.c_str());
  return 1;
}

int ReadTables(const std::vector<std::string>& arguments) {
  const auto database = OpenRecording(arguments[0]);
  if (!database.ok()) return Fail(database.error());
  for (std::size_t i = 1; i + 1 < arguments.size(); i += 2) {
    const std::string& columns = arguments[i + 1];
    int count = 1;
    for (const char c : columns) count += c == ',' ? 1 : 0;
    auto rows = database.value().PrepareRows(columns, arguments[i]);
    if (!rows.ok()) return Fail(rows.error());
    std::uint64_t sum = 0;  // printed, so that nothing is left out
    const Status read = rows.value().ForEachRow([&sum, count](const SqlRow& row) {
      for (int column = 0; column < count; ++column)
        sum += static_cast<std::uint64_t>(row.int64(column));
      return true;
    });
    if (!read.ok()) return Fail(read.error());
    std::printf("%s %llu\n", arguments[i].c_str(), static_cast<unsigned long long>(sum));
  }
  return 0;
}

}  // namespace
}  // namespace traceinject

int main(int argc, char** argv) {
  if (argc < 4 || argc % 2 != 0)
    return traceinject::Fail("usage: bare_read run.db TABLE COLUMNS [TABLE COLUMNS]...");
  return traceinject::ReadTables(std::vector<std::string>(argv + 1, argv + argc));
}
