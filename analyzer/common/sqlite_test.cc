// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/sqlite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace traceinject {
namespace {

Database OpenMemory() {
  auto database =
      Database::Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, "test.db");
  EXPECT_TRUE(database.ok());
  return std::move(database).value();
}

TEST(Sqlite, ReadsWhatWasBound) {
  const Database database = OpenMemory();
  ASSERT_TRUE(database.Execute("CREATE TABLE t (a INTEGER, b TEXT, c)").ok());
  auto insert = database.Prepare("INSERT INTO t VALUES (?, ?, ?)");
  ASSERT_TRUE(insert.ok());
  insert.value().Bind(1, std::int64_t{1} << 40);
  insert.value().Bind(2, "text");
  insert.value().BindNull(3);
  EXPECT_FALSE(insert.value().read_only());
  ASSERT_TRUE(insert.value().Step().ok());

  auto select = database.Prepare("SELECT a, b, c FROM t");
  ASSERT_TRUE(select.ok());
  Statement& row = select.value();
  EXPECT_TRUE(row.read_only());
  EXPECT_EQ(row.columns(), 3);
  EXPECT_EQ(row.column_name(1), "b");
  const auto first = row.Step();
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first.value());
  EXPECT_EQ(row.int64(0), std::int64_t{1} << 40);
  EXPECT_EQ(row.optional_int(0), std::numeric_limits<int>::max());
  EXPECT_EQ(row.text(1), "text");
  EXPECT_TRUE(row.is_null(2));
  EXPECT_EQ(row.optional_int(2), std::nullopt);
  EXPECT_EQ(row.optional_int64(2), std::nullopt);
  const auto second = row.Step();
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(second.value());
}

// The numbers 1 to `last` in the column n, 2 n in the column m.
Statement Numbers(const Database& database, int last) {
  auto rows = database.PrepareRows(
      "n, m, 'row ' || n", fmt::format("(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                                       "FROM c WHERE i < {}) SELECT i AS n, 2 * i AS m FROM c)",
                                       last));
  EXPECT_TRUE(rows.ok()) << rows.error();
  return std::move(rows).value();
}

TEST(Sqlite, VisitsEveryRowInOrder) {
  const Database database = OpenMemory();
  Statement rows = Numbers(database, 1000);
  for (int round = 0; round < 2; ++round) {
    std::int64_t last = 0;
    const Status read = rows.ForEachRow([&](const SqlRow& row) {
      EXPECT_EQ(row.int64(0), ++last);
      EXPECT_EQ(row.optional_int(1), 2 * last);
      EXPECT_EQ(row.text(2), fmt::format("row {}", last));
      return true;
    });
    EXPECT_TRUE(read.ok());
    EXPECT_EQ(last, 1000);
  }
}

TEST(Sqlite, NoRowsAreNoVisits) {
  const Database database = OpenMemory();
  ASSERT_TRUE(database.Execute("CREATE TABLE t (a)").ok());
  auto rows = database.PrepareRows("a", "t");
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(rows.value()
                  .ForEachRow([](const SqlRow&) {
                    ADD_FAILURE();
                    return true;
                  })
                  .ok());
}

TEST(Sqlite, VisitsCanBeNested) {
  const Database database = OpenMemory();
  Statement outer = Numbers(database, 3), inner = Numbers(database, 4);
  int visits = 0;
  const Status read = outer.ForEachRow([&](const SqlRow&) {
    EXPECT_TRUE(inner.ForEachRow([&](const SqlRow&) { return ++visits > 0; }).ok());
    return true;
  });
  EXPECT_TRUE(read.ok());
  EXPECT_EQ(visits, 12);
}

TEST(Sqlite, VisitsEndWhereTheyAreToldTo) {
  const Database database = OpenMemory();
  int visits = 0;
  EXPECT_TRUE(Numbers(database, 1000).ForEachRow([&](const SqlRow&) { return ++visits < 7; }).ok());
  EXPECT_EQ(visits, 7);
}

TEST(Sqlite, WhatAVisitThrowsArrives) {
  const Database database = OpenMemory();
  Statement rows = Numbers(database, 1000);
  EXPECT_THROW(static_cast<void>(rows.ForEachRow([](const SqlRow&) -> bool { throw 5; })), int);
  EXPECT_TRUE(rows.ForEachRow([](const SqlRow&) { return true; }).ok());
}

TEST(Sqlite, FailuresWhileVisitingAreErrors) {
  const Database database = OpenMemory();
  auto rows = database.PrepareRows("abs(-9223372036854775808)", "(SELECT 1)");
  ASSERT_TRUE(rows.ok());
  const Status read = rows.value().ForEachRow([](const SqlRow&) { return true; });
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("integer overflow"), std::string::npos) << read.error();
}

// The function that visits is there for queries too, and does no harm.
TEST(Sqlite, QueriesCannotVisit) {
  const Database database = OpenMemory();
  EXPECT_FALSE(database.Execute("SELECT visit_row()").ok());
  EXPECT_FALSE(database.Execute("SELECT visit_row(1, 2)").ok());
}

TEST(Sqlite, ErrorsNameTheFileAndTheCause) {
  const Database database = OpenMemory();
  const auto select = database.Prepare("SELECT * FROM nowhere");
  ASSERT_FALSE(select.ok());
  EXPECT_EQ(select.error(), "test.db: no such table: nowhere");
  EXPECT_FALSE(database.Prepare("  -- nothing").ok());
  const auto missing =
      Database::Open("/nonexistent/x.db", SQLITE_OPEN_READONLY, nullptr, "/nonexistent/x.db");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find("/nonexistent/x.db: cannot open"), std::string::npos)
      << missing.error();
}

TEST(Sqlite, TailIsWhatFollowsTheFirstStatement) {
  const Database database = OpenMemory();
  std::string_view tail;
  ASSERT_TRUE(database.Prepare("SELECT 1; SELECT 2", &tail).ok());
  EXPECT_EQ(tail, " SELECT 2");
}

}  // namespace
}  // namespace traceinject
