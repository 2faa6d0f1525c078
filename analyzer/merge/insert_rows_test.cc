// SPDX-License-Identifier: Apache-2.0
#include "analyzer/merge/insert_rows.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

class InsertRowsTest : public testing::Test {
 protected:
  InsertRowsTest() {
    EXPECT_TRUE(database_.Execute("CREATE TABLE t (a INTEGER NOT NULL, b)").ok());
  }
  std::int64_t Number(const std::string& sql) {
    auto rows = database_.Prepare(sql);
    EXPECT_TRUE(rows.value().Step().ok());
    return rows.value().int64(0);
  }
  Database database_ = Database::Open(":memory:", SQLITE_OPEN_READWRITE, nullptr, "memory").value();
};

// However many are left after those that go together.
TEST_F(InsertRowsTest, InsertsAllRowsInTheirOrder) {
  for (const std::int64_t rows : {0, 1, 15, 16, 17, 100}) {
    ASSERT_TRUE(database_.Execute("DELETE FROM t").ok());
    auto insert = InsertRows::Into(database_, "t", 2, rows);
    ASSERT_TRUE(insert.ok()) << insert.error();
    for (std::int64_t i = 0; i < rows; ++i) {
      insert.value().statement().Bind(insert.value().first(), i);
      insert.value().statement().Bind(insert.value().first() + 1, 2 * i);
      ASSERT_TRUE(insert.value().Add().ok());
    }
    EXPECT_EQ(insert.value().inserted(), rows);
    EXPECT_EQ(insert.value().left_out(), 0);
    EXPECT_EQ(Number("SELECT count(*) FROM t WHERE a = rowid - 1 AND b = 2 * a"), rows);
  }
}

TEST_F(InsertRowsTest, RowsThatBreakTheRulesAreCounted) {
  auto insert = InsertRows::Into(database_, "t", 2, 34);
  for (std::int64_t i = 0; i < 34; ++i) {
    Statement& statement = insert.value().statement();
    const int first = insert.value().first();
    i % 5 == 0 ? statement.BindNull(first) : statement.Bind(first, i);
    statement.BindNull(first + 1);
    ASSERT_TRUE(insert.value().Add().ok());
  }
  EXPECT_EQ(insert.value().left_out(), 7);
  EXPECT_EQ(insert.value().inserted(), 27);
  EXPECT_EQ(Number("SELECT count(*) FROM t WHERE a % 5 <> 0"), 27);
}

}  // namespace
}  // namespace traceinject
