// SPDX-License-Identifier: Apache-2.0
#include "analyzer/common/sqlite.h"

#include <gtest/gtest.h>

#include <limits>

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

TEST(Sqlite, ErrorsNameTheFileAndTheCause) {
  const Database database = OpenMemory();
  const auto select = database.Prepare("SELECT * FROM nowhere");
  ASSERT_FALSE(select.ok());
  EXPECT_EQ(select.error(), "test.db: no such table: nowhere");
  EXPECT_FALSE(database.Prepare("  -- nothing").ok());
  const auto missing =
      Database::Open("/nonexistent/x.db", SQLITE_OPEN_READONLY, nullptr, "/nonexistent/x.db");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().find("/nonexistent/x.db: cannot be opened"), std::string::npos)
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
