// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: a folder that vanishes, queries that are one line, batches whose
// content is known.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include "injector/base/guarded_io.h"
#include "injector/rows/rows.h"
#include "injector/store/run_file.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {

// The rows of a query: columns joined with '|', rows with newlines, NULL as "NULL"; or "error:
// ...".
inline std::string Query(const std::string& path, const std::string& sql) {
  InstallGuardedIo();
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::string rows;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK ||
      sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
    rows = std::string("error: ") + sqlite3_errmsg(db);
  }
  int step = SQLITE_DONE;
  while (statement != nullptr && (step = sqlite3_step(statement)) == SQLITE_ROW) {
    if (!rows.empty()) rows += '\n';
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, i));
      if (i > 0) rows += '|';
      rows += text == nullptr ? "NULL" : text;
    }
  }
  if (step != SQLITE_DONE) rows = std::string("error: ") + sqlite3_errmsg(db);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return rows;
}

inline RunFile::Header TestHeader(RunFile::Journal journal = RunFile::Journal::kByFileSystem) {
  RunFile::Header header;
  header.base_ns = 1'700'000'000'000'000'000;
  header.tool_version = "1.2.3";
  header.process.pid = 77;
  header.process.host = "node7";
  header.process.run_id = "job-5";
  header.process.start = 10;
  header.journal = journal;
  return header;
}

// Batch `number` has `rows` kernels with correlation = number, and one string.
inline Batch NumberedBatch(std::uint32_t number, std::size_t rows) {
  Batch batch;
  batch.strings.push_back({number, "batch " + std::to_string(number)});
  for (std::size_t i = 0; i < rows; ++i) {
    batch.kernels.push_back({static_cast<std::int64_t>(i) * 1000, 500, 1, 1, number, 0});
  }
  return batch;
}

// The suffix of a test that is run with each kind of journal.
inline std::string JournalName(const testing::TestParamInfo<RunFile::Journal>& test) {
  return test.param == RunFile::Journal::kWriteAhead ? "WriteAhead" : "Truncate";
}

// Runs `body` in a forked child, which exits with its result. Must be reaped with Wait.
template <typename Body>
pid_t Fork(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

// The exit code, or 128 + the signal.
inline int Wait(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace traceinject
