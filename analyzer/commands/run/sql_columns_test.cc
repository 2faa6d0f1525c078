// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/run/sql_columns.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class SqlColumnsTest : public testing::Test {
 protected:
  ColumnTable Of(std::string_view sql) {
    SqlColumns columns;
    const Status added = columns.Add(database_, sql, std::nullopt);
    EXPECT_TRUE(added.ok()) << added.error();
    return columns.Take("sql");
  }
  std::string Error(std::string_view sql) {
    const Status added = SqlColumns().Add(database_, sql, std::nullopt);
    return added.ok() ? "" : added.error();
  }
  template <typename T>
  std::vector<T> Values(const Column& column) {
    auto file = OutputFile::Create(folder_ / "written");
    column.write_values(file.value());
    EXPECT_TRUE(file.value().Close().ok());
    std::stringstream bytes;
    bytes << std::ifstream(folder_ / "written").rdbuf();
    std::vector<T> values(bytes.str().size() / sizeof(T));
    std::memcpy(values.data(), bytes.str().data(), bytes.str().size());
    return values;
  }

  TemporaryFolder folder_;
  Database database_ =
      Database::Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, "x").value();
};

TEST_F(SqlColumnsTest, AColumnHasTheTypeThatAllItsValuesFitInto) {
  const ColumnTable table =
      Of("SELECT 1 AS whole, 2 AS mixed, 3 AS text, NULL AS none UNION ALL "
         "SELECT 1 << 40, 0.5, 'x', NULL UNION ALL SELECT NULL, NULL, 0.25, NULL");
  ASSERT_EQ(table.rows, 3U);
  EXPECT_EQ(table.columns[0].name, "whole");
  EXPECT_EQ(Values<std::int64_t>(table.columns[0]),
            (std::vector<std::int64_t>{1, std::int64_t{1} << 40, kNullInt64}));
  EXPECT_EQ(table.columns[1].type, ColumnType::kDouble);
  const auto mixed = Values<double>(table.columns[1]);
  EXPECT_EQ(mixed[0], 2);
  EXPECT_EQ(mixed[1], 0.5);
  EXPECT_TRUE(mixed[2] != mixed[2]);
  EXPECT_EQ(table.columns[2].type, ColumnType::kText);
  EXPECT_EQ(table.columns[2].texts, (std::vector<std::string>{"3", "x", "0.25"}));
  EXPECT_EQ(Values<std::int64_t>(table.columns[3]), std::vector<std::int64_t>(3, kNullInt64));
  EXPECT_TRUE(table.columns[3].nullable);
}

TEST_F(SqlColumnsTest, RowsOfSeveralRecordingsHaveARank) {
  SqlColumns columns;
  const SqlCell rank = {SqlCell::Kind::kNumber, "7"}, name = {SqlCell::Kind::kText, "a.db"};
  ASSERT_TRUE(columns.Add(database_, "SELECT 1 AS one", rank).ok());
  ASSERT_TRUE(columns.Add(database_, "SELECT 2 AS one", name).ok());
  const Status other = columns.Add(database_, "SELECT 1, 2", rank);
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error(), std::string("x: ") + kOtherColumns);
  const ColumnTable table = columns.Take("sql");
  EXPECT_EQ(table.columns[0].name, "rank");
  EXPECT_EQ(table.columns[0].texts, (std::vector<std::string>{"7", "a.db"}));
  EXPECT_EQ(Values<std::int64_t>(table.columns[1]), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(SqlColumnsTest, OnlyOneStatementThatReads) {
  EXPECT_NE(Error("SELECT 1; SELECT 2").find("only one statement"), std::string::npos);
  EXPECT_NE(Error("CREATE TABLE t (a)").find("read-only"), std::string::npos);
  EXPECT_EQ(Of("SELECT 1 AS a WHERE 0").columns[0].name, "a") << "columns without rows";
}

}  // namespace
}  // namespace traceinject
