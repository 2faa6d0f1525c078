// SPDX-License-Identifier: Apache-2.0
// Files whose rows or tables cannot be right.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadDamagedRowsTest = ReadFixture;

TEST_F(ReadDamagedRowsTest, LeavesOutWhatCannotBeRightAndSaysSo) {
  RunDbFixture file(path_);
  const auto call = file.AddApi({.start_ns = 0, .dur_ns = 1});
  file.AddKernel({.start_ns = 10, .dur_ns = 5, .correlation = call});
  file.AddNvtx({});
  file.AddCollective({.bytes = 8});
  file.Execute(
      "INSERT INTO kernel VALUES (1, 1, 99, 1, 0, NULL), (1, 1, -1, 1, 0, NULL), (1, 1, 1, "
      "9223372036854775807, 0, NULL),"
      "  (9223372036854775807, 9223372036854775807, 1, 1, 0, NULL), (-9223372036854775808, 1, 1, "
      "1, 0, NULL),"
      "  (20, -7, 1, 1, -1, 12345), ('text', x'00', 'a', 'b', 'c', 'd');"
      "INSERT INTO api VALUES (1, 1, 77, 1, 1, 0), (1, 1, 1, 77, 1, 0);"
      "INSERT INTO nvtx VALUES (1, 1, 1, 9, 1, 1, NULL, NULL, NULL), (1, 1, 1, 1, 9, 1, NULL, "
      "NULL, NULL),"
      "  (1, 1, 1, 1, 1, 4444, -5, NULL, NULL);"
      "INSERT INTO collective VALUES (101, 1, 1, 1, 999, NULL, 1, NULL, NULL, NULL), (102, 1, 1, "
      "1, "
      "1, 999, -5, NULL, NULL, NULL);"
      "INSERT INTO collective_plan VALUES (-9, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),"
      "  (102, 1, 99, 1, 1, 1, 1, 1, 1, 1, 1, 1),"
      "  (102, 9223372036854775807, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),"
      "  (102, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -9223372036854775807),"
      "  (102, 1, 1, 'x', -5, 999, 999, 999, 'y', -8, -1, NULL);"
      "INSERT INTO sync VALUES (1, 1, 1, 99, 1, 1), (1, 1, 1, 1, -4, 99);"
      "INSERT INTO stream(id, proc, device, context, stream_id) VALUES (8, 1, -3, 0, 0), (9, 44, "
      "0, 0, 0);"
      "INSERT INTO kernel_shape VALUES (700000000000, 31337, 0,0,0,0,0,0, 9999999999,0,0, 0,0,0,0);"
      "INSERT INTO kernel VALUES (30, 1, 1, 700000000000, 0, NULL);"
      "INSERT INTO device VALUES (1, 1000000, 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
      "NULL, NULL);"
      "INSERT INTO health VALUES (9, 'a', 'b', 1, NULL);");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  const GpuOps& ops = rank.devices.at(0).ops;
  EXPECT_EQ(ops.start, (TimeColumn{10, 20, 30}));
  EXPECT_EQ(ops.end, (TimeColumn{15, 20, 31}));
  EXPECT_EQ(ops.graph_node[1], kNone);
  EXPECT_EQ(rank.api.size(), 1u);
  EXPECT_EQ(rank.nvtx.size(), 2u);
  EXPECT_EQ(rank.nvtx.text[1], kNone);
  EXPECT_EQ(rank.collectives.size(), 2u);
  EXPECT_EQ(rank.collectives.bytes, (std::vector<std::int64_t>{8, -1})) << "not known";
  EXPECT_EQ(rank.plans.size(), 1u);
  EXPECT_EQ(rank.plans.count, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(rank.syncs.size(), 1u);
  EXPECT_EQ(rank.devices.size(), 1u);
  std::string notes;
  for (const std::string& note : read.notes) notes += note + "\n";
  for (const char* part :
       {"2 rows of the table 'kernel' left out: no row for the stream",
        "'kernel' left out: impossible start or duration", "1 row of the table 'kernel' repaired",
        "'api' left out: no row for the thread", "'nvtx' left out: unknown kind",
        "'collective' kept with an unknown communicator", "'stream' left out",
        "'collective_plan' left out: no row for the operation"}) {
    EXPECT_NE(notes.find(part), std::string::npos) << part << "\nin\n" << notes;
  }
}

TEST_F(ReadDamagedRowsTest, ValuesThatNothingCanHaveAreSetAside) {
  RunDbFixture file(path_);
  const auto call = file.AddApi({.start_ns = 0, .dur_ns = 1});
  file.AddDevice({});
  file.AddKernel({.start_ns = 10,
                  .dur_ns = 5,
                  .correlation = call,
                  .grid = {-4, 2, 1},
                  .block = {-128, 1, 1}});
  file.AddMemcpy({.start_ns = 20, .dur_ns = 5, .bytes = -1});
  file.AddMemcpy({.start_ns = 30, .dur_ns = 5, .bytes = std::int64_t{1} << 62});
  file.AddMemcpy({.start_ns = 40, .dur_ns = 5, .bytes = 4096});
  const auto communicator = file.AddCommunicator({.size = -2});
  file.AddCollective({.start_ns = 1, .dur_ns = 1, .bytes = 8, .communicator = communicator});
  const auto loader = file.AddDataLoader({.workers = -3, .batch_size = -64});
  file.AddDataWait({.start_ns = 1, .dur_ns = 1, .loader = loader, .samples = -64});
  file.AddDeviceSample({.time_ns = 1, .sm_clock_mhz = -5, .sm_utilisation_pct = 382});
  file.Execute("UPDATE process SET driver_version = -1, world_size = 0");
  file.Close();
  const RecordedFile read = Read();
  const Rank& rank = read.ranks.at(0);
  ASSERT_EQ(rank.devices.at(0).ops.size(), 4U) << "their time is known";
  const KernelShape& shape = rank.shapes.at(0);
  EXPECT_EQ(shape.grid[0], 0);
  EXPECT_EQ(shape.grid[1], 2);
  EXPECT_EQ(shape.block[0], 0);
  std::vector<std::int64_t> bytes;
  for (const Transfer& transfer : rank.transfers) bytes.push_back(transfer.bytes);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{0, 0, 4096}));
  EXPECT_EQ(rank.communicators.at(0).size, std::nullopt);
  EXPECT_EQ(rank.loaders.at(0).workers, 0);
  EXPECT_EQ(rank.loaders.at(0).batch_size, std::nullopt);
  EXPECT_EQ(rank.data_waits.samples.at(0), -1) << "not known";
  EXPECT_EQ(rank.devices.at(0).samples.sm_clock_mhz[0], -1);
  EXPECT_EQ(rank.devices.at(0).samples.sm_utilisation_pct[0], -1);
  EXPECT_EQ(rank.process.driver_version, std::nullopt);
  EXPECT_EQ(rank.process.world_size, std::nullopt);
  std::string notes;
  for (const std::string& note : read.notes) notes += note + "\n";
  for (const char* part : {"1 value of kernel_shape.grid_x set aside: not from 0 to 2,147,483,647",
                           "1 value of kernel_shape.block_x set aside: not from 0 to 1,024",
                           "2 values of memcpy.bytes set aside", "communicator.size",
                           "data_loader.workers", "data_loader.batch_size", "data_wait.samples",
                           "device_sample.sm_utilisation_pct", "process.driver_version"}) {
    EXPECT_NE(notes.find(part), std::string::npos) << part << "\nin\n" << notes;
  }
}

TEST_F(ReadDamagedRowsTest, MissingTablesAndColumnsAreSentences) {
  const auto error_after = [&](const std::string& sql) {
    RunDbFixture file(path_);
    file.Execute(sql);
    file.Close();
    const auto read = TryRead();
    return read.ok() ? std::string("read") : read.error();
  };
  for (const char* table : {"meta", "process", "kernel", "api", "health", "string"}) {
    const std::string error = error_after(std::string("DROP TABLE ") + table);
    EXPECT_NE(error.find(std::string("'") + table + "'"), std::string::npos) << error;
    EXPECT_TRUE(error.starts_with(path_)) << error;
  }
  const std::string endless = error_after(
      "ALTER TABLE api RENAME TO x; CREATE VIEW api AS WITH RECURSIVE n(start) AS (SELECT 1 UNION "
      "ALL "
      "SELECT 1 FROM n) SELECT start, 1 AS dur, 1 AS thread, 1 AS name, 1 AS correlation, 0 AS "
      "result FROM n");
  EXPECT_NE(endless.find("the table 'api' is missing"), std::string::npos) << endless;
  const std::string column = error_after("ALTER TABLE kernel DROP COLUMN shape");
  EXPECT_NE(column.find("no such column: shape"), std::string::npos) << column;
  EXPECT_NE(error_after("DELETE FROM meta").find("base_ns"), std::string::npos);
  EXPECT_NE(error_after("UPDATE meta SET value = -1").find("base_ns"), std::string::npos);
  EXPECT_NE(error_after("DELETE FROM process").find("no process"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
