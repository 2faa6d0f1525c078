// SPDX-License-Identifier: Apache-2.0
// Tables that older versions of the schema have not, and newer ones have to have.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadOlderVersionsTest = ReadFixture;

// Version 1 had no such tables.
TEST_F(ReadOlderVersionsTest, VersionOneHasNoPythonSide) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6});
  file.Execute("COMMIT; PRAGMA user_version = 1; DROP TABLE data_loader; DROP TABLE data_wait");
  file.Execute("DROP TABLE step_mark; DROP TABLE host_span; DROP TABLE collective_plan; BEGIN");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_EQ(read.ranks[0].schema_version, 1);
  EXPECT_EQ(read.ranks[0].devices[0].ops.size(), 1U);
  EXPECT_EQ(read.ranks[0].data_waits.size(), 0U);
}

// Version 2 had no such tables.
TEST_F(ReadOlderVersionsTest, VersionTwoHasNoMatrixProducts) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6});
  file.AddDataWait({.start_ns = 10, .dur_ns = 1, .batch = 0});
  file.Execute("COMMIT; PRAGMA user_version = 2; DROP TABLE gemm; DROP TABLE gemm_shape");
  file.Execute("DROP TABLE nccl_setup; DROP TABLE nccl_link");
  file.Execute("DROP TABLE attention; DROP TABLE attention_shape; DROP TABLE data_wait");
  file.Execute("CREATE TABLE data_wait (start, dur, thread, loader, batch)");
  file.Execute("INSERT INTO data_wait VALUES (10, 1, 1, NULL, 0); BEGIN");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_EQ(read.ranks[0].schema_version, 2);
  EXPECT_EQ(read.ranks[0].gemms.size(), 0U);
  EXPECT_EQ(read.ranks[0].attentions.size(), 0U);
  EXPECT_EQ(read.ranks[0].data_waits.samples, (std::vector<std::int64_t>{-1}));
}

TEST_F(ReadOlderVersionsTest, VersionTwoWithoutItsTablesIsDamaged) {
  RunDbFixture file(path_);
  file.Execute("DROP TABLE step_mark");
  file.Close();
  const auto read = TryRead();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("step_mark"), std::string::npos);
}

// Version 5 had no stacks.
TEST_F(ReadOlderVersionsTest, VersionFiveHasNoStacks) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6});
  file.Execute("COMMIT; PRAGMA user_version = 5; DROP TABLE code_place; DROP TABLE stack");
  file.Execute("DROP TABLE stack_sample; BEGIN");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_EQ(read.ranks[0].devices[0].ops.size(), 1U);
  EXPECT_EQ(read.ranks[0].stack_samples.size(), 0U);
}

// Version 7 had no counters.
TEST_F(ReadOlderVersionsTest, VersionSevenHasNoCounters) {
  RunDbFixture file(path_);
  file.AddKernel({.start_ns = 5, .dur_ns = 6});
  file.Execute("COMMIT; PRAGMA user_version = 7; DROP TABLE counter_sample; DROP TABLE counter");
  file.Execute("DROP TABLE counter_set; BEGIN");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 1U);
  EXPECT_EQ(read.ranks[0].schema_version, 7);
  EXPECT_EQ(read.ranks[0].devices[0].ops.size(), 1U);
  EXPECT_EQ(read.ranks[0].devices[0].counters.size(), 0U);
}

TEST_F(ReadOlderVersionsTest, VersionThreeWithoutItsTableIsDamaged) {
  RunDbFixture file(path_);
  file.Execute("DROP TABLE collective_plan");
  file.Close();
  const auto read = TryRead();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().find("collective_plan"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
