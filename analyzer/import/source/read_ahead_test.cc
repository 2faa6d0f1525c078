// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/source/read_ahead.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

constexpr std::int64_t kRows = 10 * ReadAhead::kRangeRows + 7;

class ReadAheadTest : public testing::Test {
 protected:
  ReadAheadTest() {
    Execute("CREATE TABLE event (start INTEGER, node INTEGER, kind INTEGER)");
    Execute(
        fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
                    "INSERT INTO event SELECT i * 1000, iif(i % 3 = 0, i, NULL), -i FROM n",
                    kRows));
  }

  Database Open() const {
    auto opened = Database::Open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path_);
    EXPECT_TRUE(opened.ok()) << opened.error();
    return std::move(opened).value();
  }
  void Execute(const std::string& sql) const {
    const Status done = Open().Execute(sql);
    ASSERT_TRUE(done.ok()) << done.error();
  }

  static std::string TextOf(const SqlRow& row) {
    std::string text;
    for (int column = 0; column < 3; ++column)
      text += fmt::format("{}:{} ", row.is_null(column) ? "null" : "", row.int64(column));
    return text;
  }
  std::vector<std::string> InOrder(RowSpan span) const {
    std::vector<std::string> found;
    const Database database = Open();
    auto rows = database.PrepareRows("start, node, kind",
                                     fmt::format("event WHERE rowid >= {}", span.first));
    EXPECT_TRUE(rows.value()
                    .ForEachRow([&](const SqlRow& row) {
                      found.push_back(TextOf(row));
                      return true;
                    })
                    .ok());
    return found;
  }
  // Those until `most`.
  std::vector<std::string> Ahead(RowSpan span, std::size_t threads,
                                 std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    std::vector<std::string> found;
    const Database database = Open();
    std::vector<Database> beside;
    while (beside.size() < threads) beside.push_back(Open());
    ReadAhead ahead(database, beside, "event", "start, node, kind", span);
    const Status read = ahead.ForEachRow([&](const SqlRow& row) {
      found.push_back(TextOf(row));
      return found.size() < most;
    });
    EXPECT_TRUE(read.ok()) << read.error();
    return found;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "events.db";
};

TEST_F(ReadAheadTest, RowsComeAsAndInTheOrderThatTheyAreStored) {
  const std::vector<std::string> rows = InOrder({1, kRows});
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kRows));
  for (const std::size_t threads : {0, 1, 3, 8})
    EXPECT_EQ(Ahead({1, kRows}, threads), rows) << threads;
}

TEST_F(ReadAheadTest, FromTheFirstOfTheSpanToTheLastThatThereIs) {
  EXPECT_EQ(Ahead({20'000, 30'000}, 2), InOrder({20'000, 30'000}));
  EXPECT_EQ(Ahead({kRows + 1, kRows}, 2), std::vector<std::string>());
  Execute("INSERT INTO event (rowid, start) VALUES (9223372036854775807, 5)");
  EXPECT_EQ(Ahead({1, kRows}, 2), InOrder({1, kRows}));
}

TEST_F(ReadAheadTest, WhereRowsAreMissing) {
  Execute("DELETE FROM event WHERE rowid BETWEEN 100 AND 50000 OR rowid % 7 = 0");
  EXPECT_EQ(Ahead({1, kRows}, 3), InOrder({1, kRows}));
}

TEST_F(ReadAheadTest, ValuesThatAreNoIntegersComeAsTheyAre) {
  Execute("UPDATE event SET kind = 'word' WHERE rowid = 3 * 16384 + 5");
  Execute("UPDATE event SET kind = 0.5 WHERE rowid = 70000");
  const Database database = Open();
  std::vector<Database> beside;
  while (beside.size() < 3) beside.push_back(Open());
  std::vector<std::string> odd;
  std::int64_t rows = 0;
  ReadAhead ahead(database, beside, "event", "start, node, kind", {1, kRows});
  const Status read = ahead.ForEachRow([&](const SqlRow& row) {
    EXPECT_EQ(row.int64(0), ++rows * 1000);
    if (row.type(2) != SQLITE_INTEGER) odd.emplace_back(row.text(2));
    return true;
  });
  EXPECT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(rows, kRows);
  EXPECT_EQ(odd, std::vector<std::string>({"word", "0.5"}));
}

TEST_F(ReadAheadTest, EndsWhereTheVisitorDoes) {
  for (const std::size_t most : {1, 20'000, 100'000}) {
    const std::vector<std::string> found = Ahead({1, kRows}, 3, most);
    EXPECT_EQ(found.size(), most);
  }
}

TEST_F(ReadAheadTest, WhatTheVisitorThrowsIsThrown) {
  const Database database = Open();
  std::vector<Database> beside;
  beside.push_back(Open());
  for (const int from : {1, 40'000}) {
    ReadAhead ahead(database, beside, "event", "start", {1, kRows});
    EXPECT_THROW(static_cast<void>(ahead.ForEachRow([&](const SqlRow& row) -> bool {
                   if (row.int64(0) >= from * 1000) throw std::runtime_error("no memory");
                   return true;
                 })),
                 std::runtime_error);
  }
}

TEST_F(ReadAheadTest, AnErrorComesAfterTheRowsBeforeIt) {
  const Database database = Open();
  std::vector<Database> beside;
  beside.push_back(Open());
  {
    ReadAhead ahead(database, beside, "event", "start, no_such_column", {1, kRows});
    EXPECT_FALSE(ahead.ForEachRow([](const SqlRow&) { return true; }).ok());
  }

  // abs() of the least number fails.
  Execute("UPDATE event SET node = -9223372036854775808 WHERE rowid = 60000");
  ReadAhead failing(database, beside, "event", "start, abs(node)", {1, kRows});
  std::int64_t rows = 0;
  EXPECT_FALSE(failing.ForEachRow([&](const SqlRow&) { return ++rows, true; }).ok());
  EXPECT_EQ(rows, 59'999);
}

}  // namespace
}  // namespace traceinject
