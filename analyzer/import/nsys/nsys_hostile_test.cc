// SPDX-License-Identifier: Apache-2.0
// Exports of Nsight Systems that cannot be right: rows are left out and counted, and whatever bytes
// a file holds, it is read or there is a sentence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "analyzer/import/load/load_run.h"
#include "analyzer/import/testing/nsys_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

constexpr char kInsertKernel[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
    "correlationId, "
    "globalPid, demangledName, shortName) VALUES ({}, {}, {}, 1, {}, {}, {}, {}, 0)";

std::string Kernel(const char* start, const char* end, const char* device, const char* stream,
                   const char* name) {
  return fmt::format(kInsertKernel, start, end, device, stream, 0, NsysFixture::GlobalId(100),
                     name);
}

TEST(NsysHostileTest, RowsThatCannotBeRightAreLeftOutAndCounted) {
  const TemporaryFolder folder;
  const std::string path = folder / "report1.sqlite";
  NsysFixture file(path);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.Execute(Kernel("'soon'", "2000", "0", "7", "1"));
  file.Execute(Kernel("1000", "9223372036854775807", "0", "7", "1"));
  file.Execute(Kernel("-9223372036854775808", "9223372036854775807", "0", "7", "1"));
  file.Execute(Kernel("1700", "1600", "0", "7", "1"));
  file.Execute(Kernel("1800", "1900", "-4", "7", "1"));
  file.Execute(Kernel("1800", "1900", "99999", "7", "1"));
  file.Execute(Kernel("1800", "1900", "'gpu'", "-7", "1"));
  file.Execute(Kernel("2100", "2200", "0", "7", "4711"));
  file.Execute(
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 10, 0, NULL, 1, 1, 0, NULL), "
      "(0, 10, 0, 1, 1, 4711, 0, NULL)");
  const auto run = LoadRun({path}, {});
  ASSERT_TRUE(run.ok()) << run.error();
  const GpuOps& ops = run.value().ranks[0].devices[0].ops;
  EXPECT_EQ(ops.start, (TimeColumn{1'000, 1'700, 2'100}));
  std::string notes;
  for (const std::string& note : run.value().notes) notes += note + "\n";
  for (const char* expected :
       {"'CUPTI_ACTIVITY_KIND_KERNEL' left out: no start, or no end",
        "2 rows of the table 'CUPTI_ACTIVITY_KIND_KERNEL' left out: impossible start or duration",
        "1 row of the table 'CUPTI_ACTIVITY_KIND_KERNEL' repaired: a negative duration was set to "
        "0",
        "3 rows of the table 'CUPTI_ACTIVITY_KIND_KERNEL' left out: invalid device",
        "'CUPTI_ACTIVITY_KIND_KERNEL' kept without a name",
        "1 row of the table 'CUPTI_ACTIVITY_KIND_RUNTIME' left out: no row for the thread",
        "1 row of the table 'CUPTI_ACTIVITY_KIND_RUNTIME' left out: no row for the name"})
    EXPECT_NE(notes.find(expected), std::string::npos) << expected << "\nin\n" << notes;
}

// Each would take memory of its own.
TEST(NsysHostileTest, ProcessesWithoutEndAreLeftOut) {
  const TemporaryFolder folder;
  const std::string path = folder / "report1.sqlite";
  NsysFixture file(path);
  file.AddKernel(1'000, 1'500, "kernel", 5);
  file.Execute(
      "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) "
      "WITH RECURSIVE n(pid) AS (SELECT 1000 UNION ALL SELECT pid + 1 FROM n WHERE pid < 10999) "
      "SELECT 0, 1, 59, 'range', pid << 24, 0 FROM n");
  const auto run = LoadRun({path}, {});
  ASSERT_TRUE(run.ok()) << run.error();
  EXPECT_EQ(run.value().ranks.size(), 1u);
  ASSERT_EQ(run.value().notes.size(), 2u);
  EXPECT_NE(run.value().notes[0].find("5,905 rows of the table 'NVTX_EVENTS' left out"),
            std::string::npos)
      << run.value().notes[0];
  EXPECT_NE(run.value().notes[1].find("4095 processes without GPU operations"), std::string::npos)
      << run.value().notes[1];
}

TEST(NsysHostileTest, AViewInPlaceOfATableIsNotRead) {
  const TemporaryFolder folder;
  const std::string path = folder / "report1.sqlite";
  NsysFixture file(path);
  file.AddApi(0, 10, "cudaLaunchKernel_v7000", 5);
  file.Execute(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(start) AS (SELECT 1 UNION ALL "
      "SELECT "
      "start + 1 FROM n) SELECT start, start AS end, 0 AS deviceId, 0 AS streamId, 1 AS "
      "demangledName "
      "FROM n");
  const auto run = LoadRun({path}, {});
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().find("no GPU operation"), std::string::npos) << run.error();
}

TEST(NsysHostileTest, ChangedBytesAreReadOrRefused) {
  const TemporaryFolder folder;
  {
    NsysFixture file(folder / "good.sqlite");
    for (int i = 0; i < 200; ++i) {
      file.AddApi(i * 100, i * 100 + 20, "cudaLaunchKernel_v7000", i + 1);
      file.AddKernel(i * 100 + 30, i * 100 + 90, fmt::format("kernel_{}", i % 20), i + 1);
      file.AddRange(i * 100, i * 100 + 50, fmt::format("step {}", i));
    }
  }
  std::ifstream good(folder / "good.sqlite", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(good), {});
  std::mt19937 random(1);
  int read = 0, refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::string changed = bytes;
    for (int i = 0; i < 1 + round % 20; ++i)
      changed[std::uniform_int_distribution<std::size_t>(100, bytes.size() - 1)(random)] =
          static_cast<char>(random());
    if (round % 5 == 0)
      changed.resize(changed.size() / 4 * (1 + static_cast<std::size_t>(round) % 3));
    const std::string path = folder / "changed.sqlite";
    std::ofstream(path, std::ios::binary) << changed;
    const auto run = LoadRun({path}, {});
    ++(run.ok() ? read : refused);
    EXPECT_TRUE(run.ok() || !run.error().empty());
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace traceinject
