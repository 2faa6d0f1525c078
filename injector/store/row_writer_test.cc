// SPDX-License-Identifier: Apache-2.0
#include "injector/store/row_writer.h"

#include "injector/testing/test_support.h"
#include "schemas/run_db_sql.h"

namespace traceinject {
namespace {

class RowWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InstallGuardedIo());
    ASSERT_EQ(sqlite3_open((folder_ / "run.db").c_str(), &db_), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db_, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db_, k_run_db_sql, nullptr, nullptr, nullptr), SQLITE_OK);
    ASSERT_TRUE(writer_.Prepare(db_)) << sqlite3_errmsg(db_);
  }
  void TearDown() override {
    writer_.Finalize();
    EXPECT_EQ(sqlite3_close(db_), SQLITE_OK);
  }

  std::string Rows(const std::string& sql) { return Query(folder_ / "run.db", sql); }

  TemporaryFolder folder_;
  sqlite3* db_ = nullptr;
  RowWriter writer_;
};

// One row of every kind; `collective`: the id that it was given.
Batch OneOfEach(std::uint64_t collective = 1) {
  Batch batch;
  batch.strings.resize(1);
  batch.threads.resize(1);
  batch.streams.resize(1);
  batch.shapes.resize(1);
  batch.graph_nodes.resize(1);
  batch.api_names.resize(1);
  batch.nvtx_domains.resize(1);
  batch.nvtx_categories.resize(1);
  batch.communicators.resize(1);
  batch.nccl_setups.resize(1);
  batch.nccl_links.resize(1);
  batch.nccl_links[0].transport = 1;
  batch.gemm_shapes.resize(1);
  batch.attention_shapes.resize(1);
  batch.data_loaders.resize(1);
  batch.workers.resize(1);
  batch.code_places.resize(1);
  batch.stacks.resize(1);
  batch.devices.resize(1);
  batch.facts.resize(1);
  batch.kernels.resize(1);
  batch.memcpys.resize(1);
  batch.memsets.resize(1);
  batch.memory_operations.resize(1);
  batch.apis.resize(1);
  batch.syncs.resize(1);
  batch.nvtx.resize(2);
  batch.nvtx[1].row = 1;
  batch.collectives.resize(1);
  batch.collectives[0].id = collective;
  batch.collective_plans.resize(1);
  batch.gemms.resize(1);
  batch.attentions.resize(1);
  batch.allocator_samples.resize(1);
  batch.data_waits.resize(1);
  batch.step_marks.resize(1);
  batch.host_spans.resize(1);
  batch.stack_samples.resize(1);
  batch.clock_pairs.resize(1);
  batch.gaps.resize(1);
  batch.health.resize(1);
  batch.process.resize(1);
  return batch;
}

constexpr char kAllCounts[] =
    "SELECT (SELECT count(*) FROM string), (SELECT count(*) FROM thread), (SELECT count(*) FROM "
    "stream), (SELECT count(*) FROM kernel_shape), (SELECT count(*) FROM graph_node), (SELECT "
    "count(*) FROM api_name), (SELECT count(*) FROM nvtx_domain), (SELECT count(*) FROM "
    "nvtx_category), (SELECT count(*) FROM communicator), (SELECT count(*) FROM gemm_shape), "
    "(SELECT count(*) FROM attention_shape), (SELECT count(*) FROM data_loader), "
    "(SELECT count(*) FROM code_place), (SELECT count(*) FROM stack), "
    "(SELECT count(*) FROM device), (SELECT "
    "count(*) FROM system_fact), (SELECT count(*) FROM process), (SELECT count(*) FROM health), "
    "'events', (SELECT count(*) FROM kernel), (SELECT count(*) FROM memcpy), (SELECT count(*) FROM "
    "memset), (SELECT count(*) FROM memory_operation), (SELECT count(*) FROM api), (SELECT "
    "count(*) FROM sync), (SELECT count(*) FROM "
    "nvtx), (SELECT count(*) FROM collective), (SELECT count(*) FROM "
    "collective_plan), (SELECT count(*) FROM gemm), (SELECT count(*) FROM attention), (SELECT "
    "count(*) FROM "
    "allocator_sample), (SELECT count(*) FROM data_wait), (SELECT "
    "count(*) FROM step_mark), (SELECT count(*) FROM host_span), (SELECT count(*) FROM "
    "clock_pair), (SELECT count(*) FROM capture_gap), (SELECT count(*) FROM stack_sample)";

TEST_F(RowWriterTest, ACommitThatNobodyHeardOfCanBeUndoneAndWrittenAgain) {
  ASSERT_TRUE(writer_.Insert(OneOfEach())) << sqlite3_errmsg(db_);
  writer_.Committed(OneOfEach());
  const std::string once = Rows(kAllCounts);
  EXPECT_EQ(once, "1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|events|1|1|1|1|1|1|2|1|1|1|1|1|1|1|1|1|1|1");

  ASSERT_TRUE(writer_.RemoveUnknown(db_));
  EXPECT_EQ(Rows(kAllCounts), once);

  ASSERT_TRUE(writer_.Insert(OneOfEach(2))) << sqlite3_errmsg(db_);
  const std::string twice = Rows(kAllCounts);
  EXPECT_EQ(twice,
            "1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|1|events|2|2|2|2|2|2|3|2|2|2|2|2|2|2|2|2|2|2");
  ASSERT_TRUE(writer_.RemoveUnknown(db_)) << sqlite3_errmsg(db_);
  EXPECT_EQ(Rows(kAllCounts), once);

  ASSERT_TRUE(writer_.Insert(OneOfEach(2))) << sqlite3_errmsg(db_);
  writer_.Committed(OneOfEach(2));
  EXPECT_EQ(Rows(kAllCounts), twice);
}

TEST_F(RowWriterTest, ACollectiveThatEndsLateIsWrittenBelowThoseThatBeganAfterIt) {
  ASSERT_TRUE(writer_.Insert(OneOfEach(5)));
  writer_.Committed(OneOfEach(5));
  ASSERT_TRUE(writer_.Insert(OneOfEach(3)));  // and nobody heard of the commit
  ASSERT_TRUE(writer_.RemoveUnknown(db_));
  ASSERT_TRUE(writer_.Insert(OneOfEach(3))) << sqlite3_errmsg(db_);
  EXPECT_EQ(Rows("SELECT id FROM collective ORDER BY id"), "3\n5");
}

TEST_F(RowWriterTest, AnErrorOfSqliteIsReported) {
  ASSERT_EQ(sqlite3_exec(db_, "DROP TABLE kernel", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_FALSE(writer_.Insert(OneOfEach()));
  EXPECT_FALSE(writer_.RemoveUnknown(db_));
  EXPECT_FALSE(writer_.Prepare(db_));
}

TEST_F(RowWriterTest, WhatNothingRefersToLeavesItsTable) {
  Batch batch = OneOfEach();
  batch.threads[0].id = batch.streams[0].id = batch.workers[0].id = 3;
  batch.code_places[0].id = batch.stacks[0].id = 3;
  ASSERT_TRUE(writer_.Insert(batch)) << sqlite3_errmsg(db_);
  Batch next;
  next.unused = {{0}, {0}, {0}, {0}, {3}, {3}, {3}, {3}, {3}};
  ASSERT_TRUE(writer_.Insert(next)) << sqlite3_errmsg(db_);
  EXPECT_EQ(Rows("SELECT (SELECT count(*) FROM string), (SELECT count(*) FROM kernel_shape), "
                 "(SELECT count(*) FROM graph_node), (SELECT count(*) FROM gemm_shape), (SELECT "
                 "count(*) FROM thread), (SELECT count(*) FROM stream), (SELECT count(*) FROM "
                 "worker), (SELECT count(*) FROM code_place), (SELECT count(*) FROM stack)"),
            "0|0|0|0|0|0|0|0|0");
}

}  // namespace
}  // namespace traceinject
