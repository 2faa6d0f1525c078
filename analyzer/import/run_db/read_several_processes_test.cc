// SPDX-License-Identifier: Apache-2.0
// Files that hold more than one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analyzer/import/testing/read_fixture.h"

namespace traceinject {
namespace {

using ReadSeveralProcessesTest = ReadFixture;

TEST_F(ReadSeveralProcessesTest, SeveralProcessesInOneFile) {
  RunDbFixture file(path_, {.rank = 0});
  file.AddKernel({.start_ns = 1, .dur_ns = 1, .name = "gemm"});
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start) VALUES (2, 5, 'b', 1, 'job-1', "
      "0);"
      "INSERT INTO stream(id, proc, device, context, stream_id) VALUES (50, 2, 4, 1, 7); INSERT "
      "INTO kernel VALUES (9, 1, 50, 1, 0, "
      "NULL);");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 2u);
  for (const Rank& rank : read.ranks) {
    const auto with_ops = std::find_if(rank.devices.begin(), rank.devices.end(),
                                       [](const Device& d) { return d.ops.size() > 0; });
    ASSERT_NE(with_ops, rank.devices.end());
    EXPECT_EQ(with_ops->ordinal, rank.rank == 0 ? 0 : 4);
    EXPECT_EQ(rank.string(rank.shapes[with_ops->ops.detail[0]].name), "gemm");
  }
}

// As analyze merge writes them.
TEST_F(ReadSeveralProcessesTest, ProcessesOfAMergedFileKeepWhatIsTheirOwn) {
  RunDbFixture file(path_, {.rank = 0, .end_ns = 1'000});
  file.AddGap(10, 5, "window");
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start, tool_version, closed, "
      "clock_shift, clock_drift) VALUES (2, 5, 'b', 1, 'job-1', 0, '0.0.9', 0, -70, 1e-6);"
      "INSERT INTO capture_gap VALUES (20, 7, 2, 'window'), (30, 1, 3, 'window');"
      "INSERT INTO clock_pair VALUES (1, 100, 1, 1, 1, NULL), (2, 200, 2, 2, 2, NULL);");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 2U);
  const Rank &first = read.ranks[0], &second = read.ranks[1];
  EXPECT_EQ(first.tool_version, "0.1.0");
  EXPECT_TRUE(first.closed);
  EXPECT_EQ(first.clock_shift, 0);
  EXPECT_EQ(second.tool_version, "0.0.9");
  EXPECT_FALSE(second.closed);
  EXPECT_EQ(second.clock_shift, -70);
  EXPECT_EQ(second.clock_drift, 1e-6);
  ASSERT_EQ(first.gaps.size(), 1U);
  EXPECT_EQ(first.gaps[0].start, 10);
  ASSERT_EQ(second.gaps.size(), 1U);
  EXPECT_EQ(second.gaps[0].start, 20);
  EXPECT_EQ(first.clocks.realtime, (std::vector<TimeNs>{100}));
  EXPECT_EQ(second.clocks.realtime, (std::vector<TimeNs>{200}));
  ASSERT_EQ(read.notes.size(), 1U) << "a gap of no process";
}

TEST_F(ReadSeveralProcessesTest, ADriftThatNoClockHasIsNone) {
  RunDbFixture file(path_, {.rank = 0});
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start, clock_drift) VALUES "
      "(2, 5, 'b', 1, 'job-1', 0, 1e300), (3, 6, 'b', 2, 'job-1', 0, -0.5);");
  file.Close();
  const RecordedFile read = Read();
  ASSERT_EQ(read.ranks.size(), 3U);
  EXPECT_EQ(read.ranks[1].clock_drift, 0);
  EXPECT_EQ(read.ranks[2].clock_drift, -0.5);
}

// The first rows of a table would be of the first process only.
TEST_F(ReadSeveralProcessesTest, OfSeveralProcessesAllIsRead) {
  RunDbFixture file(path_, {.rank = 0});
  for (int i = 0; i < 100; ++i) file.AddKernel({.start_ns = i, .dur_ns = 1});
  file.Execute(
      "INSERT INTO process (proc, pid, host, rank, run_id, start) VALUES (2, 5, 'b', 1, 'job-1', "
      "0)");
  file.Close();
  const RecordedFile read = Read(10);
  ASSERT_EQ(read.ranks.size(), 2U);
  EXPECT_EQ(read.ranks[0].devices[0].ops.size(), 100U);
  EXPECT_EQ(read.ranks[0].read_until, kOpen);
}

}  // namespace
}  // namespace traceinject
