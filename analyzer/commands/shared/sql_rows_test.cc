// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/sql_rows.h"

#include <gtest/gtest.h>

#include "analyzer/common/json_text.h"

namespace traceinject {
namespace {

class SqlRowsTest : public testing::Test {
 protected:
  SqlRows Rows(std::string_view sql) {
    auto rows = Query(database_.value(), sql);
    EXPECT_TRUE(rows.ok()) << rows.error();
    return rows.ok() ? std::move(rows).value() : SqlRows();
  }
  std::string ErrorOf(std::string_view sql) {
    const auto rows = Query(database_.value(), sql);
    return rows.ok() ? "" : rows.error();
  }
  Result<Database> database_ = Database::Open(":memory:", SQLITE_OPEN_READWRITE, nullptr, "x.db");
};

constexpr char kMixed[] =
    "SELECT 1 AS n, 'a,\"b\"' AS t, NULL AS z, 1.5 AS r, x'00ff' AS b UNION ALL SELECT 20, 'line' "
    "|| char(10), 'z', 2, x''";

TEST_F(SqlRowsTest, Table) {
  EXPECT_EQ(FormatRowsAsTable(Rows(kMixed)),
            " n  t      z       r  b\n"
            " 1  a,\"b\"  NULL  1.5  00ff\n"
            "20  line   z       2\n");
}

TEST_F(SqlRowsTest, Csv) {
  EXPECT_EQ(FormatRowsAsCsv(Rows(kMixed)),
            "n,t,z,r,b\r\n1,\"a,\"\"b\"\"\",,1.5,00ff\r\n20,\"line\n\",z,2,\r\n");
}

TEST_F(SqlRowsTest, Json) {
  EXPECT_EQ(FormatRowsAsJson(Rows(kMixed)),
            "[\n {\"n\": 1, \"t\": \"a,\\\"b\\\"\", \"z\": null, \"r\": 1.5, \"b\": \"00ff\"},"
            "\n {\"n\": 20, \"t\": \"line\\u000a\", \"z\": \"z\", \"r\": 2, \"b\": \"\"}\n]\n");
  EXPECT_EQ(FormatRowsAsJson(Rows("SELECT 1 WHERE 0")), "[]\n");
  // JSON has no infinity.
  EXPECT_EQ(FormatRowsAsJson(Rows("SELECT 1e999 AS x")), "[\n {\"x\": \"Inf\"}\n]\n");
}

TEST_F(SqlRowsTest, JsonStringsAreAlwaysUtf8) {
  EXPECT_EQ(JsonString("\u00e4\u20ac\U0001f600"), "\"\u00e4\u20ac\U0001f600\"");
  const std::string replaced = "\"\xEF\xBF\xBD\"";
  for (const char* bad : {"\x80", "\xC0", "\xC3", "\xFF"}) EXPECT_EQ(JsonString(bad), replaced);
  // Overlong and surrogate forms are replaced byte by byte.
  EXPECT_EQ(JsonString("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(JsonString("\xE0\x80\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST_F(SqlRowsTest, OnlyOneStatementThatReads) {
  EXPECT_NE(ErrorOf("SELECT 1; SELECT 2").find("only one statement is allowed"), std::string::npos);
  EXPECT_EQ(ErrorOf("SELECT 1; \n-- the end"), "");
  EXPECT_EQ(ErrorOf("SELECT 1;\n-- a\n-- b\n"), "");
  EXPECT_NE(ErrorOf("CREATE TABLE t (x)").find("read-only"), std::string::npos);
  EXPECT_NE(ErrorOf("SELEC 1").find("syntax error"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
