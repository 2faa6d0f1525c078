// SPDX-License-Identifier: Apache-2.0
// golden_fixture FIXTURE.sql RUN.db: a recording from SQL text. Text that creates no table gets the
// present schema first, so that a case holds rows only; a complete dump keeps the schema of its
// time.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "analyzer/common/sqlite.h"
#include "schemas/run_db_sql.h"
#include "schemas/views_sql.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: golden_fixture FIXTURE.sql RUN.db\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  std::string rows((std::istreambuf_iterator<char>(file)), {});
  if (rows.find("CREATE TABLE") == std::string::npos)
    rows = std::string(traceinject::k_run_db_sql) + traceinject::k_views_sql + rows;
  std::remove(argv[2]);
  const auto database = traceinject::Database::Open(
      argv[2], SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, argv[2]);
  if (!database.ok()) {
    std::fprintf(stderr, "%s\n", database.error().c_str());
    return 1;
  }
  const auto status = database.value().Execute(rows);
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", argv[1], status.error().c_str());
  return status.ok() ? 0 : 1;
}
