// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/columns/event_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "analyzer/export/testing/sample_recording.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class EventColumnsTest : public testing::Test {
 protected:
  EventColumnsTest() {
    WriteSampleRecording(folder_ / "run.db", {.rank = 3, .end_ns = 60'000});
    run_ = LoadSample(folder_ / "run.db");
  }

  ColumnTable Table(std::string_view name) const {
    auto table = EventColumns(run_, name);
    EXPECT_TRUE(table.has_value()) << name;
    return std::move(table).value_or(ColumnTable{});
  }

  std::string Written(const ColumnTable& table) const {
    return FileOf([&](OutputFile& file) { WriteColumns(table, file); });
  }

  // The values of a column as they are written.
  template <typename T>
  std::vector<T> Values(const ColumnTable& table, std::string_view name) const {
    const Column& column = Find(table, name);
    const std::string bytes = FileOf(column.write_values);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty())  // memcpy takes no null
      std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    EXPECT_EQ(values.size(), column.constant ? 1 : table.rows) << name;
    if (column.constant) values.resize(table.rows, values.front());
    return values;
  }

  // Texts, "-" for none.
  std::vector<std::string> Texts(const ColumnTable& table, std::string_view name) const {
    std::vector<std::string> texts;
    for (const std::int32_t at : Values<std::int32_t>(table, name))
      texts.push_back(at == kNullText ? "-" : Find(table, name).texts.at(at));
    return texts;
  }

  static const Column& Find(const ColumnTable& table, std::string_view name) {
    for (const Column& column : table.columns) {
      if (column.name == name) return column;
    }
    throw std::out_of_range(std::string(name));
  }

  TemporaryFolder folder_;
  traceinject::Run run_;

 private:
  template <typename Write>
  std::string FileOf(Write write) const {
    auto file = OutputFile::Create(folder_ / "written");
    write(file.value());
    EXPECT_TRUE(file.value().Close().ok());
    std::stringstream text;
    text << std::ifstream(folder_ / "written").rdbuf();
    return text.str();
  }
};

TEST_F(EventColumnsTest, KernelsHaveShapeAndLaunch) {
  const ColumnTable table = Table("kernels");
  ASSERT_EQ(table.rows, 7U);
  // Times count from the first operation.
  EXPECT_EQ(Values<std::int64_t>(table, "start_ns")[0], 0);
  EXPECT_EQ(Values<std::int64_t>(table, "dur_ns")[0], 5'003);
  EXPECT_EQ(Values<std::int32_t>(table, "rank"), std::vector<std::int32_t>(7, 3));
  EXPECT_EQ(Texts(table, "name")[1], "second(float*)") << "demangled";
  EXPECT_EQ(Values<std::int32_t>(table, "grid_z")[1], 2);
  EXPECT_EQ(Values<std::int32_t>(table, "stream")[2], 8);
  EXPECT_EQ(Values<std::int64_t>(table, "launch_start_ns")[0], 1'000 - 10'001);
  EXPECT_EQ(Values<std::int64_t>(table, "launch_dur_ns")[0], 700);
  const auto graphs = Values<std::int64_t>(table, "graph_id");
  EXPECT_EQ(graphs[0], kNullInt64);
  EXPECT_NE(graphs[5], kNullInt64);
}

TEST_F(EventColumnsTest, WhatIsNotKnownIsNull) {
  const ColumnTable sets = Table("memsets");
  EXPECT_EQ(Values<std::int64_t>(sets, "launch_start_ns"), std::vector<std::int64_t>{kNullInt64});
  const ColumnTable copies = Table("memcpys");
  EXPECT_EQ(Values<std::int32_t>(copies, "src_device"), std::vector<std::int32_t>{kNullInt32});
  EXPECT_EQ(Texts(copies, "kind"), std::vector<std::string>{"HtoD"});
  EXPECT_EQ(Texts(copies, "src_kind"), std::vector<std::string>{"pinned"});
  const ColumnTable ranges = Table("nvtx_ranges");
  const auto lengths = Values<std::int64_t>(ranges, "dur_ns");
  EXPECT_EQ(std::count(lengths.begin(), lengths.end(), kNullInt64), 1) << "one is open";
}

TEST_F(EventColumnsTest, TextsOfSeveralProcessesAreOneList) {
  Rank other = run_.ranks.front();
  other.rank = 4;
  std::reverse(other.strings.begin(), other.strings.end());
  for (KernelShape& shape : other.shapes)
    shape.name = static_cast<std::uint32_t>(other.strings.size()) - 1 - shape.name;
  run_.ranks.push_back(other);
  const ColumnTable table = Table("kernels");
  const std::vector<std::string> names = Texts(table, "name");
  ASSERT_EQ(names.size(), 14U);
  EXPECT_TRUE(std::equal(names.begin(), names.begin() + 7, names.begin() + 7));
  EXPECT_FALSE(Find(table, "rank").constant);
  EXPECT_EQ(Values<std::int32_t>(table, "process")[13], 1);
}

TEST_F(EventColumnsTest, EveryTableThatIsNamedIsThere) {
  std::stringstream names(EventTableNames());
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    const ColumnTable table = Table(name);
    EXPECT_EQ(table.name, name);
    for (const Column& column : table.columns) {
      if (column.type == ColumnType::kInt64) {
        Values<std::int64_t>(table, column.name);
      } else {
        Values<std::int32_t>(table, column.name);
      }
    }
  }
  EXPECT_FALSE(EventColumns(run_, "kernel").has_value());
}

TEST_F(EventColumnsTest, ColumnsHaveTheSameValuesIfOnlyTheirTablesAreRead) {
  std::stringstream names(EventTableNames());
  for (std::string name; std::getline(names >> std::ws, name, ',');) {
    const ColumnTable whole = Table(name);
    for (const Column& column : whole.columns) {
      ColumnTable one = {.name = name, .rows = whole.rows, .columns = {column}};
      LoadOptions only;
      only.tables = TablesOf(one);
      const auto run = LoadRun({folder_ / "run.db"}, only);
      ASSERT_TRUE(run.ok()) << run.error();
      const auto table = EventColumns(run.value(), name);
      const std::string expected = Written(one);
      one.rows = table->rows;
      one.columns = {Find(*table, column.name)};
      EXPECT_EQ(Written(one), expected) << name << ", " << column.name;
    }
  }
}

TEST_F(EventColumnsTest, ColumnsTellTheirTables) {
  const ColumnTable kernels = Table("kernels");
  EXPECT_TRUE(Find(kernels, "start_ns").tables.empty());
  EXPECT_TRUE(Find(kernels, "correlation").tables.empty());
  EXPECT_EQ(Find(kernels, "launch_tid").tables, EventTables{"api"});
  EXPECT_EQ(TablesOf(Table("collectives")).size(), Table("collectives").columns.size() + 2);
}

TEST_F(EventColumnsTest, TheStreamIsAlignedAndTellsItsLength) {
  const ColumnTable table = Table("data_waits");
  const std::string bytes = Written(table);
  EXPECT_TRUE(bytes.starts_with("TRJCOLS1"));
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data() + 8, sizeof(header));
  EXPECT_EQ(header % 8, 0U);
  std::uint64_t data = 0;
  for (const Column& column : table.columns) {
    const std::uint64_t width = column.type == ColumnType::kInt64 ? 8 : 4;
    data += ((column.constant ? 1 : table.rows) * width + 7) / 8 * 8;
  }
  EXPECT_EQ(bytes.size(), 16 + header + data);
}

}  // namespace
}  // namespace traceinject
