// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/job_text.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

Job SomeJob() {
  Job job;
  for (int rank = 0; rank < 16; ++rank) {
    if (rank == 3) continue;
    RankSummary summary;
    summary.rank = rank;
    summary.world_size = 16;
    summary.host = rank < 8 ? "node-a" : "node-b";
    summary.gpu = "NVIDIA H200";
    summary.run_id = "job-1";
    summary.steps.resize(100);
    summary.groups.resize(1);
    summary.groups[0].start.resize(200);
    summary.closed = rank != 9;
    job.ranks.push_back(std::move(summary));
  }
  job.notes = {"rank 3 of 16 is missing"};
  return job;
}

TEST(JobText, WhoIsThere) {
  EXPECT_EQ(JobText(SomeJob()),
            "15 of 16 ranks on 2 hosts\n"
            "  attempt: job-1\n"
            "  host    ranks     GPU          GPUs  steps  NCCL operations  cut off\n"
            "  node-a  0-2, 4-7  NVIDIA H200     7    100            1,400        0\n"
            "  node-b  8-15      NVIDIA H200     8    100            1,600        1\n"
            "  note: rank 3 of 16 is missing\n");
}

TEST(JobText, ProcessesWithoutARank) {
  Job job = SomeJob();
  job.ranks.resize(1);
  job.ranks[0].rank = -1;
  job.notes.clear();
  EXPECT_NE(JobText(job).find("1 GPUs of processes that are no ranks of a job, on 1 host\n"),
            std::string::npos)
      << JobText(job);
}

}  // namespace
}  // namespace traceinject
