// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/process_facts.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

ProcessRow Read(std::vector<const char*> environment) {
  environment.push_back(nullptr);
  return ReadProcessFacts(environment.data());
}

TEST(ProcessFactsTest, WithoutALauncherThereIsNoRank) {
  const ProcessRow facts = Read({"PATH=/bin"});
  EXPECT_EQ(facts.rank, -1);
  EXPECT_EQ(facts.launcher, "");
  EXPECT_FALSE(facts.host.empty());
  EXPECT_FALSE(facts.run_id.empty());
}

TEST(ProcessFactsTest, Torchrun) {
  const ProcessRow facts =
      Read({"RANK=3", "WORLD_SIZE=16", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=node0",
            "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=job7", "TORCHELASTIC_RESTART_COUNT=2"});
  EXPECT_EQ(facts.launcher, "torchrun");
  EXPECT_EQ(facts.rank, 3);
  EXPECT_EQ(facts.world_size, 16);
  EXPECT_EQ(facts.local_rank, 1);
  EXPECT_EQ(facts.local_world_size, 2);
  EXPECT_EQ(facts.restart, 2);
  EXPECT_EQ(facts.run_id, "torchrun:job7:node0:29500:restart2");
}

TEST(ProcessFactsTest, RanksOfOneLauncherShareTheRunId) {
  const char* common[] = {"WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=localhost",
                          "MASTER_PORT=29500", "TORCHELASTIC_RUN_ID=none"};
  std::vector<const char*> first(std::begin(common), std::end(common)), second = first;
  first.push_back("RANK=0");
  second.push_back("RANK=1");
  EXPECT_EQ(Read(first).run_id, Read(second).run_id);
}

TEST(ProcessFactsTest, MpiAndSlurm) {
  EXPECT_EQ(Read({"OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_SIZE=8"}).launcher, "mpi");
  const ProcessRow slurm =
      Read({"SLURM_PROCID=2", "SLURM_NTASKS=4", "SLURM_LOCALID=0", "SLURM_JOB_ID=99"});
  EXPECT_EQ(slurm.launcher, "slurm");
  EXPECT_EQ(slurm.rank, 2);
  EXPECT_NE(slurm.run_id.find("99"), std::string::npos);
}

TEST(ProcessFactsTest, TheJobIsToldWithoutTheCommandLine) {
  const char* environment[] = {"RANK=1", "WORLD_SIZE=2", nullptr};
  const ProcessRow job = ReadJobFacts(environment), all = ReadProcessFacts(environment);
  EXPECT_TRUE(job.command_line.empty());
  EXPECT_FALSE(all.command_line.empty());
  EXPECT_EQ(job.run_id, all.run_id);
  EXPECT_EQ(job.rank, all.rank);
  EXPECT_EQ(job.working_directory, all.working_directory);
}

TEST(ProcessFactsTest, EnvironmentFactsAreChosenAndMasked) {
  const char* environment[] = {"NCCL_DEBUG=INFO",
                               "HOME=/root",
                               "TORCH_HUB_TOKEN=abc",
                               "CUDA_VISIBLE_DEVICES=0,1",
                               "UCX_PROXY=http://me:pw@h",
                               "GITHUB_SHA=b25ac4b29526dc53580e0ce9f49a2fee4fd510c4",
                               nullptr};
  const std::vector<SystemFactRow> facts = ReadEnvironmentFacts(environment);
  ASSERT_EQ(facts.size(), 5U);
  EXPECT_EQ(facts[0].value, "INFO");
  EXPECT_EQ(facts[1].value, "***");
  EXPECT_EQ(facts[2].key, "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(facts[3].value, "http://me:***@h");
  EXPECT_EQ(facts[4].value, "b25ac4b29526dc53580e0ce9f49a2fee4fd510c4");
}

}  // namespace
}  // namespace traceinject
